import asyncio
import threading
import time

import numpy as np

from keras_attn.serving import batching
from keras_attn.serving.batching import Batcher
from keras_attn.serving.errors import RequestError
from keras_attn.serving.settings import Settings


class Doubler:
    """Stands for a model: doubles numbers, and knows with how many others each came."""

    def __init__(self):
        self.joins_rows, self.has_rows, self.shared = True, True, ()
        self.batches = []
        self.has_begun, self.may_go_on = threading.Semaphore(0), threading.Event()
        self.may_go_on.set()

    def signature(self, name):
        return self

    def predict(self, name, inputs):
        self.batches.append(inputs["x"].tolist())
        self.has_begun.release()
        assert self.may_go_on.wait(10)
        if np.any(inputs["x"] < 0):
            raise RequestError("negative")
        return {"y": 2 * inputs["x"]}


async def ask(batcher, model, *numbers, signature="double", client="", **others):
    inputs = {"x": np.array(numbers), **others}
    outputs = await batcher.predict(model, signature, inputs, len(numbers), client)
    return outputs["y"].tolist()


def ask_long(batcher, model, *numbers, num_characters=2000, client=""):
    text = np.array(["犬".encode() * num_characters] * len(numbers), object)
    return asyncio.create_task(ask(batcher, model, *numbers, client=client, text=text))


async def until_computing(batcher, model, number):
    """Wait for the first batch of one row to be computed, and the others to be queued."""
    await asyncio.to_thread(model.has_begun.acquire)
    while batcher.num_rows != number - 1:
        await asyncio.sleep(0)


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
        ({}, [[1], [2, 3], [4]], [[1, 4, 2, 3]]),  # short ones first
        # A request alone waits no longer than it is told.
        ({"batch_wait": 0.0}, [[1]], [[1]]),
        # A full batch does not wait.
        ({"batch_wait": 60.0, "batch_rows": 4}, [[0], [1], [2], [3]], [[0, 1, 2, 3]]),
        # A batch has at most `batch_rows` rows; a larger request is computed in pieces.
        ({"batch_rows": 3}, [[1, 1], [2, 2], [3] * 5], [[1, 1], [2, 2], [3, 3, 3], [3, 3]]),
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
        assert 0.5 <= asyncio.get_running_loop().time() - start < 1

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


def test_requests_that_keep_coming_are_waited_for():
    async def scenario(batcher, model):
        async def come_later(number):
            await asyncio.sleep(0.05 * number)
            await ask(batcher, model, number)

        await asyncio.gather(*map(come_later, range(24)))

    assert run(scenario, batch_wait=1.0) == [[*range(24)]]


def test_several_requests_share_a_batch_of_at_most_so_many_characters():
    async def scenario(batcher, model):
        sizes = [60, 50, 30, 500, 10]
        asked = (ask_long(batcher, model, size, num_characters=size) for size in sizes)
        await asyncio.gather(*asked)

    assert run(scenario, batch_characters=100) == [[10, 30, 50], [60], [500]]


def test_what_arrives_while_the_model_computes_is_the_next_batch():
    async def scenario(batcher, model):
        model.may_go_on.clear()
        asked = []
        for number in (1, 2, 3):
            asked.append(asyncio.create_task(ask(batcher, model, number)))
            if number == 1:
                await asyncio.to_thread(model.has_begun.acquire)
            for _ in range(10):  # turns of the loop in which it would go if the thread were free
                await asyncio.sleep(0)
        assert batcher.num_rows == 2
        model.may_go_on.set()
        assert await asyncio.gather(*asked) == [[2], [4], [6]]

    assert run(scenario, batch_wait=0.0) == [[1], [2, 3]]


def test_only_rows_that_may_share_a_batch_are_joined():
    async def scenario(batcher, model):
        other = Doubler()
        await asyncio.gather(
            ask(batcher, model, 1),
            ask(batcher, model, 2, signature="again"),
            ask(batcher, other, 3),
            ask(batcher, model, 4),
        )
        assert other.batches == [[3]]
        # Rows that would change each other.
        model.joins_rows = False
        await asyncio.gather(ask(batcher, model, 5), ask(batcher, model, 6))
        # Rows with unequal shared inputs.
        model.joins_rows, model.shared = True, ("factor",)
        factors = {7: [3, 4], 8: [4, 3], 9: [3], 10: [3, 4]}
        asked = (ask(batcher, model, x, factor=np.array(f)) for x, f in factors.items())
        assert await asyncio.gather(*asked) == [[14], [16], [18], [20]]

    assert run(scenario) == [[1, 4], [2], [5], [6], [7, 10], [8], [9]]


def test_one_that_is_refused_takes_nobody_with_it():
    async def scenario(batcher, model):
        asked = (ask(batcher, model, number) for number in (1, -1, 3))
        first, refused, last = await asyncio.gather(*asked, return_exceptions=True)
        assert (first, type(refused), last) == ([2], RequestError, [6])

    run(scenario)


def test_two_threads_compute_two_batches_at_once():
    async def scenario(batcher, model):
        model.may_go_on.clear()
        asked = [asyncio.create_task(ask(batcher, model, number)) for number in (1, 2)]
        for _ in asked:
            await asyncio.to_thread(model.has_begun.acquire)
        model.may_go_on.set()
        await asyncio.gather(*asked)

    assert sorted(run(scenario, threads=2, batch_rows=1)) == [[1], [2]]


def test_a_short_text_passes_between_the_pieces_of_long_ones_of_any_client():
    async def scenario(batcher, model):
        for client in ("a", "b"):
            model.may_go_on.clear()
            asked = [ask_long(batcher, model, *[n] * 5, client="a") for n in range(10)]
            await until_computing(batcher, model, 50)
            asked.append(asyncio.create_task(ask(batcher, model, 99, client=client)))
            await until_computing_again(batcher, model)
            answers = await asyncio.gather(*asked)
            assert answers == [[2 * n] * 5 for n in range(10)] + [[198]]

    async def until_computing_again(batcher, model):
        while batcher.num_rows != 50:
            await asyncio.sleep(0)
        model.may_go_on.set()

    batches = run(scenario, batch_rows=1)
    assert batches.index([99]) == 1 and batches[51:].index([99]) == 1


def test_clients_get_equal_shares_however_much_they_ask_for():
    async def scenario(batcher, model):
        model.may_go_on.clear()
        asked = [ask_long(batcher, model, *[1] * 4, client="a") for _ in range(10)]
        await until_computing(batcher, model, 40)
        asked.append(ask_long(batcher, model, *[2] * 6, client="b"))
        while batcher.num_rows != 45:
            await asyncio.sleep(0)
        model.may_go_on.set()
        await asyncio.gather(*asked)

    batches = run(scenario, batch_rows=1)
    assert batches[:13].count([2]) == 6 and [2, 2] not in batches


def test_long_texts_are_not_overtaken_for_ever():
    async def scenario(batcher, model):
        is_done = False

        async def ask_on():
            while not is_done:
                await ask(batcher, model, 2)

        model.may_go_on.clear()
        short = [asyncio.create_task(ask_on()) for _ in range(3)]
        await until_computing(batcher, model, 3)
        start = time.monotonic()
        long = ask_long(batcher, model, 1, num_characters=100)
        model.may_go_on.set()
        await long
        is_done = True
        assert 90 * batching.SECONDS_PER_CHARACTER <= time.monotonic() - start < 5
        await asyncio.gather(*short)

    run(scenario, batch_rows=1)


def test_what_nobody_waits_for_stops_at_the_next_piece():
    async def scenario(batcher, model):
        model.may_go_on.clear()
        asked = ask_long(batcher, model, *range(5))
        await until_computing(batcher, model, 5)
        asked.cancel()
        await asyncio.wait([asked])
        assert batcher.num_rows == 0
        model.may_go_on.set()
        assert await ask(batcher, model, 7) == [14]

    assert run(scenario, batch_rows=1) == [[0], [7]]


def test_rows_that_depend_on_each_other_are_one_piece():
    async def scenario(batcher, model):
        model.has_rows = False
        assert await ask(batcher, model, 1, 2, 3) == [2, 4, 6]

    assert run(scenario, batch_rows=3, batch_characters=1) == [[1, 2, 3]]
