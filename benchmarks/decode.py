"""Speed of an exported translator as it ships: `python benchmarks/decode.py MODEL`.

Compares the same weights and sentences, from strings to strings, in our SavedModel (float32 and
bfloat16, the search settings of MODEL) and in CTranslate2 (float32 and int8, with sentencepiece),
greedy and with a beam of 4. CTranslate2 has its own defaults and the exponent of our length
penalty; it is skipped if it is not installed. Each has a separate process for each way to use the
cores, and they take turns; for each size of a request the fastest way is printed. A ratio above 1
means that our SavedModel is faster. BLEU is that of the same sentences.

Steps are decoder steps for a text; row-steps count each step once for each of its sentences.
Ours are counted in the search that this code makes of the configuration. Those of CTranslate2
follow from its hypotheses.

- `--old VERSION` compares two exported versions instead, each as it is: MODEL and `VERSION`.
- `--try "" "early_stopping=full"` compares search settings instead, on validation sentences, batch
  by batch by turns: row-steps, processor seconds, BLEU, chrF, the share of translations equal to
  those of the first settings, and how many have a lower score. Settings are fields of `Config`.
"""

import argparse
import dataclasses
import importlib.util
import json
import math
import statistics
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import tensorflow as tf
from learning import settings_of
from machine import describe_machine
from peer import Peer
from turns import Table, median_ratio, take_turns

from keras_attn import Transformer
from keras_attn.translation import versions
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.load import load_corpus
from keras_attn.translation.corpus.splits import Example
from keras_attn.translation.decoding.steps import DecoderSteps
from keras_attn.translation.evaluation.calibration import Calibration
from keras_attn.translation.evaluation.metrics import bleu, chrf
from keras_attn.translation.export import ctranslate2, saved_model
from keras_attn.translation.export.signatures import Signatures
from keras_attn.translation.model import make_model
from keras_attn.translation.runtime import threads
from keras_attn.translation.tokenization.tokenizer import Tokenizers, load_or_train
from keras_attn.translation.training import warm_start
from keras_attn.translation.versions import CONFIG, EXTRA

OURS = ("float32", "bfloat16")
# Ways to use the cores. `shards`: one core for each operation and a shard of the request for each
# core, as `Translator`, `keras-attn translate` and the server do. `operations`: each operation on
# all cores, the default of TensorFlow. `workers`: a part of the request for each core.
WAYS_OF_OURS = ("shards", "operations")
WAYS_OF_CTRANSLATE2 = ("workers", "operations")
BEAMS = (1, 4)
# Requests of a turn, by texts in a request; a turn takes about a second.
REQUESTS = {1: 16, 8: 4, 32: 2, 128: 1}
COUNTED = 256  # sentences whose steps are counted
NAME = {"": "<22", " ": "<12"}  # columns of a program and its way
BATCH_SIZE = 64  # of `--try`, as in `Translator`
TOLERANCE = 1e-4  # of scores: batches of other shapes are rounded in another way

Peers = dict[tuple[str, str], Peer]  # by name and way
Steps = dict[tuple[str, int], tuple[float, float]]  # of a text, by name and texts in a request


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="folder of a version, or of all versions")
    parser.add_argument("--data", help="corpus of the sentences (default: training corpus)")
    parser.add_argument("--turns", type=int, default=9, help="turns of each program")
    parser.add_argument("--scored", type=int, default=2000, help="most sentences that are scored")
    parser.add_argument("--set", default="", help="settings in place of MODEL's, not with --old")
    parser.add_argument("--old", type=Path, help="an exported version to compare with")
    parser.add_argument("--try", dest="tries", nargs="+", help="search settings to compare")
    arguments = parser.parse_args()
    threads.set_intra_op_threads()
    print(describe_machine(("tensorflow", "ctranslate2", "sentencepiece", "numpy")), flush=True)
    version = versions.newest_version(arguments.model)
    config = Config.load(version / EXTRA / CONFIG)
    data = arguments.data or config.data
    pairs = load_corpus(data, config.source, config.target, hold_out=config.hold_out)
    if arguments.tries:
        compare_settings(version, arguments.tries, pairs.validation[: arguments.scored])
        return
    calibrate = Calibration(pairs.validation)
    examples = pairs.test + pairs.validation
    sentences = [example.source for example in examples]

    def measure(models: dict[str, Path], ours: tuple[str, ...]) -> None:
        steps = count_steps(models, sentences[:COUNTED], calibrate)
        peers = start(models, sentences)
        steps |= compare(peers, ours, examples[: arguments.scored], config.target)
        compare_speed(peers, ours, sentences, arguments.turns, steps)
        for peer in peers.values():
            peer.end()

    if arguments.old:
        measure({"new": version, "old": versions.newest_version(arguments.old)}, ("new",))
        return
    with tempfile.TemporaryDirectory() as folder:
        for beam_size in BEAMS:
            print(f"\nBeam {beam_size}\n" if beam_size > 1 else "\nGreedy search\n", flush=True)
            settings = {**settings_of(arguments.set), "beam_size": beam_size}
            aside = Path(folder) / f"beam_{beam_size}"
            measure(export_all(version, settings, aside, calibrate), OURS)


def load(version: Path, **settings: Any) -> tuple[Transformer, Tokenizers, Config]:
    """Model, tokenizers and configuration of an exported version, for another export."""
    config = dataclasses.replace(Config.load(version / EXTRA / CONFIG), **settings)
    tokenizers = load_or_train(version / EXTRA, (), config)  # loads: the files are there
    in_float32 = dataclasses.replace(config, precision="float32")  # decoding has its own
    model = make_model(tokenizers.source.vocab_size, tokenizers.target.vocab_size, in_float32)
    warm_start.copy_weights(version, model)
    return model, tokenizers, config


def export_all(
    version: Path, settings: dict[str, Any], folder: Path, calibrate: Calibration
) -> dict[str, Path]:
    """Export the weights of a version with settings in each format; folders by name."""
    model, tokenizers, config = load(version, **settings)
    lexicon = warm_start.read_lexicon(version)
    models = {}
    for precision in OURS:
        served = dataclasses.replace(config, serving_precision=precision)
        parts = model, tokenizers, served, folder / precision
        models[precision] = saved_model.export(*parts, calibrate, lexicon).folder
    if importlib.util.find_spec("ctranslate2") is not None:
        converted = folder / "ctranslate2"
        ctranslate2.convert(models["float32"], converted)
        search = {name: getattr(config, name) for name in ("beam_size", "length_penalty")}
        (converted / "search.json").write_text(json.dumps(search))
        models |= {f"ctranslate2 {kind}": converted for kind in ("float32", "int8")}
    return models


class Counted(NamedTuple):
    """Translations of a batch, and their cost."""

    translations: list[str]
    scores: list[float]
    steps: float
    row_steps: float
    seconds: float  # of the processor


class CountedSearch:
    """Search that an export of a version has, with `settings` in place of its own, counted."""

    def __init__(self, version: Path, calibrate: Calibration, **settings: Any):
        model, tokenizers, config = load(version, **settings)
        config.validate()
        lexicon = warm_start.read_lexicon(version)
        self._exported = Signatures(model, tokenizers, config, lexicon)
        threads.one_core_for_each_shard(self._exported)
        self._steps = tf.Variable([0.0, 0.0])
        step, no_terms = DecoderSteps.step, tf.zeros([0], tf.string)

        def counted(steps: DecoderSteps, last: tf.Tensor, *others: Any) -> Any:
            self._steps.assign_add([1.0, tf.cast(tf.shape(last)[0], tf.float32)])
            return step(steps, last, *others)

        def best(texts: tf.Tensor) -> Any:  # as `serving_default`, with scores
            found = self._exported.search(texts, no_terms, no_terms, 1, True)
            return found["translations"][:, 0], found["scores"][:, 0]

        with mock.patch.object(DecoderSteps, "step", counted):
            calibrate(self._exported)
            graph = tf.function(best, [tf.TensorSpec([None], tf.string)], autograph=False)
            self._best = graph.get_concrete_function()

    def __call__(self, texts: list[str]) -> Counted:
        self._steps.assign([0.0, 0.0])
        start = time.process_time()
        translations, scores = (found.numpy().tolist() for found in self._best(tf.constant(texts)))
        seconds = time.process_time() - start
        steps, row_steps = self._steps.numpy().tolist()
        return Counted([text.decode() for text in translations], scores, steps, row_steps, seconds)


def compare_settings(version: Path, tries: list[str], examples: list[Example]) -> None:
    """Print cost and quality of search settings."""
    target = Config.load(version / EXTRA / CONFIG).target
    calibrate = Calibration(examples)
    searches = [CountedSearch(version, calibrate, **settings_of(text)) for text in tries]
    examples = sorted(examples, key=lambda example: len(example.source))
    parts = list(batches([example.source for example in examples], BATCH_SIZE))
    turns = [[search(part) for search in searches] for part in (parts[0], *parts)]
    print(f"{len(examples):,} validation sentences")
    columns = {"row-steps": ">9.2f", "CPU s": ">8.1f", "BLEU": ">8.2f", "chrF": ">8.2f"}
    table = Table(columns | {"equal": ">9.2%", "lower": ">7", "  settings": ""})
    first: dict[str, np.ndarray] = {}
    for settings, found in zip(tries, zip(*turns[1:], strict=True), strict=True):  # after a warm-up
        row_steps, seconds = (sum(one[i] for one in found) for i in (3, 4))
        texts, scores = (np.concatenate([one[i] for one in found]) for i in (0, 1))
        first = first or {"texts": texts, "scores": scores}
        scored = texts.tolist(), [example.references for example in examples]
        lower = np.sum(scores < first["scores"] - TOLERANCE)
        quality = bleu(*scored, target), chrf(*scored), np.mean(texts == first["texts"]), lower
        table.add(row_steps / len(texts), seconds, *quality, f"  {settings}")


def batches(sentences: list[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(sentences), size):
        yield sentences[start : start + size]


def is_ours(name: str) -> bool:
    return not name.startswith("ctranslate2")


def count_steps(models: dict[str, Path], sentences: list[str], calibrate: Calibration) -> Steps:
    """Steps and row-steps of our models for a text."""
    found: Steps = {}
    for name, version in models.items():
        if is_ours(name):
            search = CountedSearch(version, calibrate)
            for size in REQUESTS:
                counted = [search(batch) for batch in batches(sentences, size)]
                steps = (sum(one.steps for one in counted), sum(one.row_steps for one in counted))
                found[name, size] = steps[0] / len(sentences), steps[1] / len(sentences)
    return found


def start(models: dict[str, Path], sentences: list[str]) -> Peers:
    """Start a process for each model and way to use the cores, and load the models."""
    peers: Peers = {}
    columns = {"load s": ">8.1f", "first text s": ">14.2f", "MiB on disk": ">13.1f"}
    table = Table(NAME | columns)
    for name, folder in models.items():
        # Without files that only conversion and training need.
        files = [path for path in folder.rglob("*") if path.is_file() and EXTRA not in path.parts]
        size = sum(path.stat().st_size for path in files) / 2**20
        for way in WAYS_OF_OURS if is_ours(name) else WAYS_OF_CTRANSLATE2:
            command = ["decode_peer.py", name, way]
            peers[name, way] = peer = Peer(f"{name}, {way}", command)
            loaded, first = peer.ask(load=str(folder)), peer.ask(texts=sentences[:1])
            table.add(name, way, loaded["seconds"], first["seconds"], size)
    return peers


def compare(peers: Peers, ours: tuple[str, ...], examples: list[Example], target: str) -> Steps:
    """Print BLEU and the share of equal translations; return the row-steps of CTranslate2."""
    sentences, references = ([getattr(e, side) for e in examples] for side in Example._fields)
    found: dict[str, list[str]] = {}
    steps: Steps = {}
    for name, peer in {name: peer for (name, _), peer in peers.items()}.items():
        answers = [peer.ask(texts=batch, count=True) for batch in batches(sentences, 128)]
        found[name] = [text for answer in answers for text in answer["texts"]]
        row_steps = sum(answer.get("row-steps", 0) for answer in answers) / len(sentences)
        steps |= {(name, size): (math.nan, row_steps) for size in REQUESTS if not is_ours(name)}
    other = next((name for name, _ in peers if name not in ours), ours[0])
    print(f"\n{len(sentences):,} sentences: BLEU, and the same translation as {other}")
    for name, texts in found.items():
        same = np.mean(np.equal(texts, found[other]))
        print(f"{name:<22}{bleu(texts, references, target):>8.2f}{same:>9.2%}", flush=True)
    return steps


def compare_speed(
    peers: Peers, ours: tuple[str, ...], sentences: list[str], num_turns: int, steps: Steps
) -> None:
    """Print sentences/s of each engine, by texts in a request."""
    print(f"\nMedian of {num_turns} turns; sentences/s, and how much faster than each other engine")
    print(f"{' and '.join(ours)} are; each in its fastest way to use the cores\n")
    columns = {"ms/request": ">11.1f", "sent./s": ">9.1f", "steps": ">8.2f", "row-steps": ">11.2f"}
    table = Table({"texts": ">5", **NAME, **columns, **dict.fromkeys(ours, ">10.2f")})
    for size, num_requests in REQUESTS.items():
        num_texts = size * num_requests

        def seconds_of(peer: Peer, turn: int, size: int = size, number: int = num_texts) -> float:
            texts = list(islice(cycle(sentences), turn * number, (turn + 1) * number))
            return sum(peer.ask(texts=batch)["seconds"] for batch in batches(texts, size))

        seconds = take_turns(peers, seconds_of, num_turns)
        fastest: dict[str, str] = {}
        for name, way in sorted(peers, key=lambda peer: statistics.median(seconds[peer])):
            fastest.setdefault(name, way)
        for name in dict.fromkeys(name for name, _ in peers):
            its = seconds[name, fastest[name]]
            median = statistics.median(its)
            ratios = (median_ratio(its, seconds[one, fastest[one]]) for one in ours)
            speed = 1000 * median / num_requests, num_texts / median
            table.add(size, f"  {name}", fastest[name], *speed, *steps[name, size], *ratios)
    for (name, way), peer in peers.items():
        print(f"{name:<22}{way:<12} peak {peer.ask()['peak MiB']:,.0f} MiB")


if __name__ == "__main__":
    main()
