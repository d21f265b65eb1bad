"""Soak test of an exported translator: `python benchmarks/serving_soak.py MODEL`.

Loads a model like a server and runs the warm-up requests. Then sends requests from several threads,
and prints the memory over time, the number of wrong answers, and the number of XLA programs
compiled after the warm-up. Tracing is not counted: a loaded SavedModel has no Python functions to
trace.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import threading
import time
from pathlib import Path

import tensorflow as tf
from machine import describe_machine, memory_of_this_process
from tensorflow_serving.apis import prediction_log_pb2

from keras_attn.translation import versions
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.load import load_corpus
from keras_attn.translation.export import warmup_requests
from keras_attn.translation.versions import CONFIG, EXTRA

# Number of distinct requests with known answers; they are repeated.
DISTINCT = 200
SIZES = (1, 1, 1, 1, 2, 3, 5, 8, 20)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "model", type=Path, help="folder of an exported version, or of all versions"
    )
    parser.add_argument("--data", help="corpus of the sentences (default: training corpus)")
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=8)
    arguments = parser.parse_args()
    print(describe_machine(("tensorflow",)), flush=True)
    version = versions.newest_version(arguments.model)
    config = Config.load(version / EXTRA / CONFIG)
    pairs = load_corpus(arguments.data or config.data, config.source, config.target)
    sentences = [example.source for example in pairs.test + pairs.validation]
    folder = tempfile.TemporaryDirectory()
    programs = folder.name
    os.environ["XLA_FLAGS"] = f"--xla_dump_to={programs}"  # one file set a program
    loaded = tf.saved_model.load(str(version))
    start = time.monotonic()
    answer_warm_up(loaded, version)
    num_programs = count_programs(programs)
    print(f"{num_programs} programs compiled in {time.monotonic() - start:.0f} s of warm-up")

    translate = loaded.signatures["serving_default"]
    draw = random.Random(0)
    requests = [tf.constant(draw.sample(sentences, draw.choice(SIZES))) for _ in range(DISTINCT)]
    answers = [translate(text=request)["translation"].numpy().tolist() for request in requests]
    wrong, slowest = ask(translate, requests, answers, arguments.requests, arguments.threads)
    print(f"{arguments.requests:,} requests of {arguments.threads} threads: {wrong} wrong answers")
    print(f"slowest {1000 * slowest:.0f} ms")
    print(f"{count_programs(programs) - num_programs} programs compiled after the warm-up")
    return 0


def answer_warm_up(loaded: tf.Module, version: Path) -> None:
    path = version / EXTRA / warmup_requests.FILE
    for record in tf.data.TFRecordDataset([str(path)]):
        log = prediction_log_pb2.PredictionLog.FromString(record.numpy())
        request = log.predict_log.request
        texts = tf.constant(tf.make_ndarray(request.inputs["text"]))
        loaded.signatures[request.model_spec.signature_name](text=texts)


def count_programs(folder: str) -> int:
    return len({name.split(".")[0] for name in os.listdir(folder)})


def ask(
    translate: tf.types.experimental.ConcreteFunction,
    requests: list[tf.Tensor],
    answers: list[list[bytes]],
    number: int,
    num_threads: int,
) -> tuple[int, float]:
    """Number of wrong answers, and seconds of the slowest request."""
    lock = threading.Lock()
    done, wrong, slowest = 0, 0, 0.0
    start = time.monotonic()

    def work(seed: int) -> None:
        nonlocal done, wrong, slowest
        draw = random.Random(seed)
        while True:
            with lock:
                if done == number:
                    return
                done += 1
                if done % max(number // 10, 1) == 0:
                    memory, seconds = memory_of_this_process() / 2**20, time.monotonic() - start
                    print(f"{done:>9,} requests {seconds:>7.0f} s {memory:>8,.0f} MiB", flush=True)
            i = draw.randrange(len(requests))
            began = time.monotonic()
            said = translate(text=requests[i])["translation"].numpy().tolist()
            seconds = time.monotonic() - began
            with lock:
                wrong += said != answers[i]
                slowest = max(slowest, seconds)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(num_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong, slowest


if __name__ == "__main__":
    sys.exit(main())
