"""Imported Marian models against transformers: `python benchmarks/marian_parity.py --out FOLDER`.

Makes Marian models with random weights of several shapes, with SentencePiece models that are
trained on `tatoeba` (`marian_peer.py`, in an environment of its own). Imports each, and compares
the ids of corpus sentences and random strings, and the translations of the exported SavedModel by
greedy search and by a beam of 4. Prints a line for each shape; the exit code is 1 if anything
differs.
"""

import argparse
import json
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import tensorflow as tf
from machine import describe_machine
from peer import python_of, write_json

from keras_attn.translation.corpus.sources import Sources
from keras_attn.translation.importing import folder, vocabulary
from keras_attn.translation.importing.marian import import_marian
from keras_attn.translation.importing.vocabulary import SpecialTokens, Vocabulary
from keras_attn.translation.special_ids import EOS_ID
from keras_attn.translation.tokenization.in_graph import GraphTokenizer

SHAPES: dict[str, dict[str, Any]] = {
    "2+2, swish, one vocabulary": {},
    "6+1, relu, one vocabulary, identity": {
        "encoder_layers": 6,
        "decoder_layers": 1,
        "activation": "relu",
        "normalization": "identity",
    },
    "1+3, gelu, two vocabularies, other search": {
        "encoder_layers": 1,
        "decoder_layers": 3,
        "activation": "gelu",
        "separate": True,
        "generation": {"length_penalty": 0.6, "early_stopping": True, "renormalize_logits": True},
    },
    "3+2, swish, two vocabularies, logits apart": {
        "encoder_layers": 3,
        "separate": True,
        "tied": False,
    },
    "2+2, swish, language tokens": {"languages": [">>eng<<", ">>fra<<", ">>por<<"]},
}
MIXED = (
    "あいう本日猫ァヴ漢字龘abcXYZ é ü ñ ß０１２ｶﾞﾊﾟ①㍻\ufdfa…“”’— \t\n\u3000\u00a0\u200b\u2581<>«»"
    "🎉👍🏽한국어Привет.,!?"
)
# Japanese of one sentence: texts of several sentences are translated one by one.
SENTENCE = r"[^。！？!?.「」（）『』…\s]*[ぁ-ん][^。！？!?.「」（）『』…\s]*。"
# transformers reads these names in a text as the special tokens; here they are text.
SPECIAL = SpecialTokens("<pad>", "<unk>", "</s>")
BATCH = 128


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the models")
    parser.add_argument("--strings", type=int, default=20_000, help="strings to tokenize")
    parser.add_argument("--sentences", type=int, default=500, help="sentences to translate")
    parser.add_argument("--shapes", type=int, nargs="*", help="numbers of the shapes, from 0")
    arguments = parser.parse_args()
    out = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    print(describe_machine(("tensorflow", "keras", "sentencepiece")), flush=True)
    pairs = [entry.pair for entry in Sources("tatoeba", "ja", "en").read().entries]
    random.Random(1).shuffle(pairs)
    lines = [[pair[side] for pair in pairs[:20_000]] for side in (0, 1)]
    write_json(out / "lines.json", lines)
    python = python_of("marian")
    print("| shape | ids, source | ids, target | greedy | beam 4 |")
    print("|---|---|---|---|---|", flush=True)
    num_different = 0
    for number, (name, shape) in enumerate(SHAPES.items()):
        if arguments.shapes and number not in arguments.shapes:
            continue
        texts = make_texts(pairs[20_000:], shape, arguments.strings, arguments.sentences)
        found = compare(out / str(number), shape, texts, python, out / "lines.json")
        print(f"| {name} | {' | '.join(text for text, _ in found)} |", flush=True)
        num_different += sum(differ for _, differ in found)
    return num_different > 0


def make_texts(
    pairs: list[Any], shape: dict[str, Any], num_strings: int, num_sentences: int
) -> dict[str, Any]:
    """Strings to tokenize, half from the corpus, and sentences to translate."""
    draw = random.Random(2)
    single = [pair.source for pair in pairs if re.fullmatch(SENTENCE, pair.source)]
    tokens = shape.get("languages") or [""]
    sentences = [tokens[i % len(tokens)] + text for i, text in enumerate(single[:num_sentences])]
    strings = [pair[i % 2] for i, pair in enumerate(pairs[: num_strings // 2])]
    for text in strings[: num_strings - len(strings)]:
        middle = "".join(draw.choice(MIXED) for _ in range(draw.randrange(24)))
        strings.append(draw.choice(["", *tokens]) + text[: draw.randrange(8)] + middle)
    strings = [text for text in strings if not any(name in text for name in SPECIAL)]
    return {"strings": strings, "pairs": [], "sentences": sentences}


def compare(
    model: Path, shape: dict[str, Any], texts: dict[str, Any], python: Path, lines: Path
) -> list[tuple[str, bool]]:
    """Line to print of each comparison, and whether it found a difference."""
    shutil.rmtree(model, ignore_errors=True)
    model.mkdir()
    write_json(model / "shape.json", shape)
    write_json(model / "texts.json", texts)
    marian, peer = model / "marian", [python, Path(__file__).with_name("marian_peer.py")]
    run(*peer, "make", marian, model / "shape.json", lines)
    run(*peer, "answer", marian, model / "texts.json")
    answers = json.loads((marian / "answers.json").read_text(encoding="utf-8"))
    files, found = folder.read(marian), []
    for i, name in enumerate(("source", "target")):
        proto = folder.read_bytes(marian, f"{name}.spm")
        side = vocabulary.convert(proto, files.vocabularies[i], SPECIAL, files.names[i])
        found.append(counted(ids(side, texts["strings"]), answers[f"{name}_ids"]))
    for beams in (1, 4):
        write_json(marian / "generation_config.json", {**files.generation, "num_beams": beams})
        # Without a list of example sentences for the pair of languages.
        translator = import_marian(marian, model / f"beam_{beams}", target="fr")
        found.append(counted(translator(texts["sentences"]), answers[f"beam_{beams}"]))
    return found


def counted(found: list[Any], expected: list[Any]) -> tuple[str, bool]:
    same = sum(ours == theirs for ours, theirs in zip(found, expected, strict=True))
    return f"{same:,} of {len(expected):,}", same < len(expected)


def ids(side: Vocabulary, strings: list[str]) -> list[list[int]]:
    """Ids of the imported vocabulary, by the tokenizer in the graph; checked against Python's."""
    graph = GraphTokenizer(side.tokenizer.proto)
    found: list[list[int]] = []
    for start in range(0, len(strings), BATCH):
        found += graph.tokenize(tf.constant(strings[start : start + BATCH])).to_list()
    if found != side.tokenizer.encode(strings):
        raise AssertionError("The tokenizers in the graph and in Python differ.")
    return [side.rows[[*row, EOS_ID]].tolist() for row in found]


def run(*command: Any) -> None:
    result = subprocess.run([*map(str, command)], capture_output=True, text=True)
    if result.returncode:
        raise RuntimeError(f"{command[:4]} failed: {result.stderr[-2000:]}")


if __name__ == "__main__":
    sys.exit(main())
