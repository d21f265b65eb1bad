"""Translation speed of an exported translator: `python benchmarks/decode.py MODEL`.

Compares the same weights and sentences, from strings to strings, in CTranslate2 (float32 and int8,
with sentencepiece) and in our SavedModel (float32 and bfloat16). Each has a separate process for
each way to use the cores, and they take turns; for each size of a request the fastest way is
printed. Length penalties are 0, which is not what ships: CTranslate2 uses another formula. A ratio
above 1 means that our SavedModel is faster. CTranslate2 is skipped if it is not installed.

`--old VERSION` compares two exported versions instead, each as it is, MODEL and `VERSION`.
"""

import argparse
import dataclasses
import importlib.util
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from machine import describe_machine, num_cores
from peer import Peer

from keras_attn import Transformer
from keras_attn.translation import versions
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.load import load_corpus
from keras_attn.translation.export import ctranslate2, saved_model
from keras_attn.translation.model import make_model
from keras_attn.translation.tokenization.tokenizer import Tokenizer, Tokenizers
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "model", type=Path, help="folder of an exported version, or of all versions"
    )
    parser.add_argument("--data", help="corpus of the sentences (default: training corpus)")
    parser.add_argument("--turns", type=int, default=9, help="turns of each program")
    parser.add_argument("--same", type=int, default=2000, help="number of translations to compare")
    parser.add_argument("--old", type=Path, help="an exported version to compare with")
    arguments = parser.parse_args()
    packages = ("tensorflow", "ctranslate2", "sentencepiece", "numpy")
    print(describe_machine(packages), flush=True)
    version = versions.newest_version(arguments.model)
    config = Config.load(version / EXTRA / CONFIG)
    pairs = load_corpus(arguments.data or config.data, config.source, config.target)
    sentences = [example.source for example in pairs.test + pairs.validation]

    def measure(models: dict[str, Path], ours: tuple[str, ...], reference: str) -> None:
        peers = start(models, sentences)
        if reference in models:
            compare(peers, models, reference, sentences[: arguments.same])
        take_turns(peers, ours, sentences, arguments.turns)
        for peer in peers.values():
            peer.end()

    if arguments.old:
        measure({"new": version, "old": versions.newest_version(arguments.old)}, ("new",), "old")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        for beam_size in BEAMS:
            print(f"\nBeam {beam_size}\n" if beam_size > 1 else "\nGreedy search\n", flush=True)
            models = export_all(version, beam_size, Path(folder) / f"beam_{beam_size}")
            measure(models, OURS, "ctranslate2 float32")
    return 0


def load_tokenizers(version: Path) -> Tokenizers:
    return Tokenizers(
        *(Tokenizer.load(version / EXTRA / f"{name}.model") for name in Tokenizers._fields)
    )


def load_model(version: Path) -> Transformer:
    """Model with the weights of an exported version, for another export."""
    config = Config.load(version / EXTRA / CONFIG)
    config = dataclasses.replace(config, precision="float32")  # decoding has its own
    sizes = (tokenizer.vocab_size for tokenizer in load_tokenizers(version))
    model = make_model(*sizes, config)
    warm_start.copy_weights(version, model)
    return model


def export_all(version: Path, beam_size: int, folder: Path) -> dict[str, Path]:
    """Export the weights of a version for a beam size in each format; folders by name."""
    config = dataclasses.replace(
        Config.load(version / EXTRA / CONFIG),
        beam_size=beam_size,
        length_penalty=0.0,
        min_length_ratio=0.0,
        no_repeat_ngram=0,
    )
    tokenizers = load_tokenizers(version)
    model = load_model(version)
    models = {}
    for precision in OURS:
        served = dataclasses.replace(config, serving_precision=precision)
        exported = saved_model.export(model, tokenizers, served, folder / precision)
        models[precision] = exported.folder
    if importlib.util.find_spec("ctranslate2") is not None:
        ctranslate2.convert(models["float32"], folder / "ctranslate2")
        (folder / "ctranslate2" / "beam_size").write_text(str(beam_size))
        for compute_type in ("float32", "int8"):
            models[f"ctranslate2 {compute_type}"] = folder / "ctranslate2"
    return models


def ways(name: str) -> tuple[str, ...]:
    """Ways in which an engine may use the cores."""
    return WAYS_OF_CTRANSLATE2 if name.startswith("ctranslate2") else WAYS_OF_OURS


def start(models: dict[str, Path], sentences: list[str]) -> dict[tuple[str, str], Peer]:
    """Start a process for each model and way to use the cores, and load the models."""
    peers = {}
    print(f"{'':<22}{'':<12}{'load s':>8}{'first text s':>14}{'MiB on disk':>13}")
    for name, folder in models.items():
        # Without files that only conversion and training need.
        files = [path for path in folder.rglob("*") if path.is_file() and EXTRA not in path.parts]
        size = sum(path.stat().st_size for path in files) / 2**20
        for way in ways(name):
            command = ["decode_peer.py", name, way]
            peers[name, way] = peer = Peer(f"{name}, {way}", command, num_cores())
            loaded = peer.ask(load=str(folder))
            first = peer.ask(texts=sentences[:1])
            print(f"{name:<22}{way:<12}{loaded['seconds']:>8.1f}", end="")
            print(f"{first['seconds']:>14.2f}{size:>13.1f}")
    sys.stdout.flush()
    return peers


def compare(
    peers: dict[tuple[str, str], Peer],
    models: dict[str, Path],
    reference: str,
    sentences: list[str],
) -> None:
    """Print the share of translations equal to those of a reference."""
    answers = {
        name: [
            text
            for batch in batches(sentences, 128)
            for text in peers[name, ways(name)[0]].ask(texts=batch)["texts"]
        ]
        for name in models
    }
    theirs = answers.pop(reference)
    print(f"\n{len(sentences):,} sentences, the same translation as {reference}:", flush=True)
    for name, mine in answers.items():
        same = sum(a == b for a, b in zip(mine, theirs, strict=True))
        print(f"{name:<22}{same / len(sentences):>8.2%}")


def batches(sentences: list[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(sentences), size):
        yield sentences[start : start + size]


def take_turns(
    peers: dict[tuple[str, str], Peer],
    ours: tuple[str, ...],
    sentences: list[str],
    num_turns: int,
) -> None:
    """Print sentences/s of each engine, by texts in a request."""
    print(f"\nMedian of {num_turns} turns; sentences/s, and how much faster than each other engine")
    print(f"{' and '.join(ours)} are; each in its fastest way to use the cores\n")
    print(f"{'texts':>5}  {'':<22}{'':<12}{'ms/request':>11}{'sent./s':>9}", end="")
    print("".join(f"{name:>10}" for name in ours))
    for size, num_requests in REQUESTS.items():
        seconds: dict[tuple[str, str], list[float]] = {name: [] for name in peers}
        for turn in range(-1, num_turns):  # one more turn for warm-up, not counted
            first = (turn + 1) * size * num_requests
            texts = [sentences[(first + i) % len(sentences)] for i in range(size * num_requests)]
            names = list(peers)
            for i in range(len(names)):
                name = names[(i + turn) % len(names)]  # a new order in each turn
                answers = [peers[name].ask(texts=batch) for batch in batches(texts, size)]
                if turn >= 0:
                    seconds[name].append(sum(answer["seconds"] for answer in answers))
        fastest: dict[str, str] = {}
        for name, way in sorted(peers, key=lambda name: statistics.median(seconds[name])):
            fastest.setdefault(name, way)
        for name, way in ((name, fastest[name]) for name in dict.fromkeys(n for n, _ in peers)):
            its = seconds[name, way]
            a_second = size * num_requests / statistics.median(its)
            print(f"{size:>5}  {name:<22}{way:<12}{1000 * size / a_second:>11.1f}", end="")
            print(f"{a_second:>9.1f}", end="")
            for one in ours:
                mine = seconds[one, fastest[one]]
                ratios = [a / b for a, b in zip(its, mine, strict=True)]
                print(f"{statistics.median(ratios):>10.2f}", end="")
            print(flush=True)
    for (name, way), peer in peers.items():
        print(f"{name:<22}{way:<12} peak {peer.ask()['peak MiB']:,.0f} MiB")


if __name__ == "__main__":
    sys.exit(main())
