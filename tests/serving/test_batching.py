import asyncio
import threading

import numpy as np
import pytest

from keras_attn.serving.batching import Batcher
from keras_attn.serving.errors import RequestError
from keras_attn.serving.settings import Settings


class Doubler:
    """Stands for a model: doubles numbers, and knows with how many others each came."""

    joins_rows = True
    shared = ()

    def __init__(self):
        self.batches = []
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def signature(self, name):
        return self

    def ask(self, name, inputs):
        self.batches.append(inputs["x"].tolist())
        assert self.may_go_on.wait(10)
        if np.any(inputs["x"] < 0):
            raise RequestError("negative")
        return {"y": 2 * inputs["x"]}


async def ask(batcher, model, *numbers, signature="double"):
    found = await batcher.ask(model, signature, {"x": np.array(numbers)}, len(numbers))
    return found["y"].tolist()


def run(scenario, **settings):
    """`scenario(batcher, model)`, then the batches that the model saw."""
    model = Doubler()

    async def main():
        batcher = Batcher(Settings(**{"threads": 1, "batch_wait": 0.05, **settings}))
        try:
            await asyncio.wait_for(scenario(batcher, model), 10)
        finally:
            model.may_go_on.set()
            batcher.close()

    asyncio.run(main())
    return model.batches


def test_requests_that_arrive_together_share_a_batch_and_each_gets_its_own():
    table = [
        ({}, [[1], [2, 3], [4]], [[1, 2, 3, 4]]),
        # A request alone waits no longer than it is told.
        ({"batch_wait": 0.0}, [[1]], [[1]]),
        # A full batch does not wait.
        ({"batch_wait": 60.0, "batch_rows": 4}, [[0], [1], [2], [3]], [[0, 1, 2, 3]]),
        # A batch has at most `batch_rows` rows, but for one request.
        ({"batch_rows": 3}, [[1, 1], [2, 2], [3] * 5], [[1, 1], [2, 2], [3] * 5]),
    ]
    for settings, requests, batches in table:

        async def scenario(batcher, model, requests=requests):
            answers = await asyncio.gather(*(ask(batcher, model, *one) for one in requests))
            assert answers == [[2 * number for number in one] for one in requests]

        assert run(scenario, **settings) == batches


def test_a_lone_client_does_not_wait_after_its_first_request():
    async def scenario(batcher, model):
        start = asyncio.get_running_loop().time()
        for number in range(4):
            assert await ask(batcher, model, number) == [2 * number]
        assert 0.5 <= asyncio.get_running_loop().time() - start < 0.9

    run(scenario, batch_wait=0.5)


def test_clients_that_come_back_one_after_the_other_share_a_batch_again():
    async def scenario(batcher, model):
        async def client(number):
            await ask(batcher, model, number)
            for _ in range(3 * number):  # some turns of the loop later than the one before
                await asyncio.sleep(0)
            await ask(batcher, model, 10 + number)

        await asyncio.gather(*map(client, range(3)))

    assert run(scenario, batch_wait=0.5) == [[0, 1, 2], [10, 11, 12]]


def test_several_requests_share_a_batch_of_at_most_so_many_characters():
    class Lengths(Doubler):
        def ask(self, name, inputs):
            lengths = np.array([len(text.decode()) for text in inputs["text"]])
            self.batches.append(lengths.tolist())
            return {"y": lengths}

    model = Lengths()

    async def scenario(batcher, _):
        async def length(number):
            inputs = {"text": np.array(["犬".encode() * number], object)}
            return (await batcher.ask(model, "length", inputs, 1))["y"].tolist()

        numbers = [60, 50, 30, 500, 10]
        assert await asyncio.gather(*map(length, numbers)) == [[number] for number in numbers]

    run(scenario, batch_characters=100)
    assert model.batches == [[60, 30, 10], [50], [500]]


def test_what_arrives_while_the_model_computes_is_the_next_batch():
    async def scenario(batcher, model):
        model.may_go_on.clear()
        first = asyncio.create_task(ask(batcher, model, 1))
        while not model.batches:
            await asyncio.sleep(0.01)
        others = [asyncio.create_task(ask(batcher, model, n)) for n in (2, 3)]
        while batcher.num_rows < 2:
            await asyncio.sleep(0)
        await asyncio.sleep(0.1)  # longer than they would wait if the thread were free
        assert batcher.num_rows == 2
        model.may_go_on.set()
        assert await asyncio.gather(first, *others) == [[2], [4], [6]]

    assert run(scenario) == [[1], [2, 3]]


def test_other_signatures_and_versions_are_not_joined():
    async def scenario(batcher, model):
        other = Doubler()
        await asyncio.gather(
            ask(batcher, model, 1),
            ask(batcher, model, 2, signature="again"),
            ask(batcher, other, 3),
            ask(batcher, model, 4),
        )
        assert other.batches == [[3]]

    assert run(scenario) == [[1, 4], [2]]


def test_rows_that_would_change_each_other_are_not_joined():
    async def scenario(batcher, model):
        model.joins_rows = False
        await asyncio.gather(ask(batcher, model, 1), ask(batcher, model, 2))

    assert run(scenario) == [[1], [2]]


def test_rows_are_joined_where_their_shared_inputs_are_equal():
    async def scenario(batcher, model):
        model.shared = ("factor",)

        async def ask_times(factor, *numbers):
            inputs = {"x": np.array(numbers), "factor": np.array(factor)}
            found = await batcher.ask(model, "times", inputs, len(numbers))
            return found["y"].tolist()

        answers = await asyncio.gather(
            ask_times([3, 4], 1), ask_times([4, 3], 2), ask_times([3], 3), ask_times([3, 4], 5, 6)
        )
        assert answers == [[2], [4], [6], [10, 12]]

    assert run(scenario) == [[1, 5, 6], [2], [3]]


def test_one_that_is_refused_takes_nobody_with_it():
    async def scenario(batcher, model):
        answers = await asyncio.gather(
            ask(batcher, model, 1),
            ask(batcher, model, -1),
            ask(batcher, model, 3),
            return_exceptions=True,
        )
        assert answers[0] == [2]
        assert isinstance(answers[1], RequestError)
        assert answers[2] == [6]

    run(scenario)


def test_a_full_queue_refuses_at_once_and_goes_on():
    async def scenario(batcher, model):
        waiting = [asyncio.create_task(ask(batcher, model, n)) for n in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(RequestError) as caught:
            await ask(batcher, model, 1, 1)
        assert caught.value.status == 503
        assert int(caught.value.headers["Retry-After"]) > 0
        assert await asyncio.gather(*waiting) == [[0], [2], [4]]
        assert await ask(batcher, model, 1, 1) == [2, 2]

    run(scenario, queue_rows=4, max_rows=4)


def test_who_leaves_while_waiting_is_not_computed():
    async def scenario(batcher, model):
        stays, leaves = (asyncio.create_task(ask(batcher, model, n)) for n in (1, 2))
        await asyncio.sleep(0)
        leaves.cancel()
        assert await stays == [2]
        assert batcher.num_rows == 0

    assert run(scenario) == [[1]]


def test_two_threads_compute_two_batches_at_once():
    async def scenario(batcher, model):
        model.may_go_on.clear()
        first, second = (asyncio.create_task(ask(batcher, model, n)) for n in (1, 2))
        while len(model.batches) < 2:
            await asyncio.sleep(0.01)
        model.may_go_on.set()
        await asyncio.gather(first, second)

    assert sorted(run(scenario, threads=2, batch_rows=1)) == [[1], [2]]
