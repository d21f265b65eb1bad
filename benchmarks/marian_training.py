"""A trained Marian model, there and back: `python benchmarks/marian_training.py --out FOLDER`.

1. transformers makes a Marian model with random weights and SentencePiece models of its own
   (`marian_peer.py`, in an environment of its own), which is imported.
2. The import is trained on `tatoeba` for `--minutes`.
3. The trained weights are written into the folder of transformers, which is imported again. Prints
   BLEU of the trained model, of the second import and of transformers itself, on test sentences of
   `tatoeba`, and how many translations are the same.
4. The second import is trained on 5,000 pairs of `everyday` (`--start-from`) for `--tune` minutes.
   Prints BLEU before and after, and whether the tokenizers are the same files.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from environments import python_of
from machine import describe_machine
from marian_parity import SENTENCE, read_sides, run, write

from keras_attn.translation import Translator, named_weights
from keras_attn.translation.corpus.load import load_corpus
from keras_attn.translation.corpus.splits import Example
from keras_attn.translation.evaluation.metrics import score
from keras_attn.translation.importing import configuration, folder
from keras_attn.translation.importing.vocabulary import Vocabulary
from keras_attn.translation.importing.weights import names_of_blocks
from keras_attn.translation.special_ids import BOS_ID
from keras_attn.translation.tokenization.tokenizer import Tokenizers
from keras_attn.translation.versions import EXTRA, newest_version

TRAIN = Path(__file__).resolve().parent.parent / "train.py"
# About as many tokens a minute as the default model, so that ten minutes teach something.
SHAPE = {
    "width": 256,
    "inner": 1024,
    "encoder_layers": 3,
    "decoder_layers": 1,
    "pieces": 8000,
    "separate": True,
    "init_scale": 0.5,
    "max_length": 128,
}
# Random weights need the learning rate of a new model.
OF_A_NEW_MODEL = ("--learning-rate", "0.004", "--warmup-steps", "300")
NUM_OWN = 5_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of models and environments")
    parser.add_argument("--minutes", type=float, default=10, help="of the first training")
    parser.add_argument("--tune", type=float, default=3, help="minutes of the second training")
    parser.add_argument("--sentences", type=int, default=500, help="sentences to compare")
    arguments = parser.parse_args()
    print(describe_machine(("tensorflow", "keras", "sentencepiece")), flush=True)
    out = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    python = python_of("marian", out)
    peer = (python, Path(__file__).with_name("marian_peer.py"))
    command = (sys.executable, "-m", "keras_attn.translation", "import-marian")
    folders = [out / name for name in ("written", "imported", "trained", "back", "tuned")]
    marian, imported, trained, back, tuned = folders
    for path in folders:
        shutil.rmtree(path, ignore_errors=True)

    tatoeba, everyday = (load_corpus(name, "ja", "en") for name in ("tatoeba", "everyday"))
    lines = [[pair[side] for pair in tatoeba.train[:100_000]] for side in (0, 1)]
    write(out / "lines.json", lines)
    write(out / "shape.json", SHAPE)
    run(*peer, "make", marian, out / "shape.json", out / "lines.json")
    run(*command, marian, imported)
    train(trained, imported, "tatoeba", arguments.minutes, *OF_A_NEW_MODEL)

    np.savez(out / "trained.npz", **to_transformers(newest_version(trained), marian))
    run(*peer, "fill", marian, out / "trained.npz")
    run(*command, marian, back)
    # Of one sentence: texts of several are translated one by one.
    examples = [e for e in tatoeba.test if re.fullmatch(SENTENCE, e.source)][: arguments.sentences]
    sources = [example.source for example in examples]
    write(out / "texts.json", {"strings": sources[:1], "pairs": [], "sentences": sources})
    run(*peer, "answer", marian, out / "texts.json")
    answers = json.loads((marian / "answers.json").read_text(encoding="utf-8"))
    translations = {
        "the trained model": Translator.load(trained)(sources),
        "imported again": Translator.load(back)(sources),
        "transformers": answers["beam_4"],
    }
    for name, said in translations.items():
        same = sum(a == b for a, b in zip(said, answers["beam_4"], strict=True))
        print(f"{name}: BLEU {bleu(said, examples)}, {same} of {len(said)} as transformers")

    (out / "own.tsv").write_text(lines_of(random.Random(0).sample(everyday.train, NUM_OWN)))
    (out / "test.tsv").write_text(lines_of([(e.source, e.references[0]) for e in everyday.test]))
    train(tuned, back, out / "own.tsv", arguments.tune, "--hold-out", out / "test.tsv")
    for name, model in (("before", back), ("after", tuned)):
        translator = Translator.load(model)
        for corpus in (everyday, tatoeba):
            said = translator([example.source for example in corpus.test])
            print(f"{name} {NUM_OWN:,} pairs, {corpus.name}: BLEU {bleu(said, corpus.test)}")
    extras = [newest_version(model) / EXTRA for model in (back, tuned)]
    same = [
        len({(extra / f"{name}.model").read_bytes() for extra in extras}) == 1
        for name in Tokenizers._fields
    ]
    print(f"tokenizers are the same files: {all(same)}")
    return 0


def train(out: Path, start: Path, data: str | Path, minutes: float, *options: str | Path) -> None:
    command = [sys.executable, TRAIN, "--start-from", start, "--data", data, "--out", out]
    subprocess.run([*map(str, command), "--minutes", str(minutes), *map(str, options)], check=True)


def to_transformers(version: Path, marian: Path) -> dict[str, np.ndarray]:
    """Weights of a trained import by their names in transformers."""
    settings = configuration.Settings(
        folder.read_json(marian, folder.CONFIG), folder.read_json(marian, folder.GENERATION_CONFIG)
    )
    ours = named_weights.of_version(version)
    found = {
        theirs: ours[path].T if path.endswith("kernel") else ours[path]
        for path, theirs in names_of_blocks(settings)
    }
    source, target = read_sides(marian)
    for side, name in ((source, "encoder"), (target, "decoder")):
        table = ours[f"{name}/embedding/tokens/embeddings"]
        found[f"model.{name}.embed_tokens.weight"] = by_row(table, side)
    found["lm_head.weight"] = found["model.decoder.embed_tokens.weight"]
    found["final_logits_bias"] = by_row(ours["decoder/logits_bias"], target)[None]
    return found


def by_row(values: np.ndarray, side: Vocabulary) -> np.ndarray:
    """Values by the ids of transformers, where the start of the decoder is padding."""
    found = np.empty((max(side.rows) + 1, *values.shape[1:]), np.float32)
    found[side.rows] = values
    found[side.rows[BOS_ID]] = values[BOS_ID]
    return found


def bleu(translations: Sequence[str], examples: Sequence[Example]) -> str:
    found = score(translations, [example.references for example in examples], "en")
    return f"{found.bleu:.2f} ± {found.bleu_interval:.1f}"


def lines_of(pairs: Sequence[tuple[str, str]]) -> str:
    return "".join(f"{source}\t{target}\n" for source, target in pairs)


if __name__ == "__main__":
    sys.exit(main())
