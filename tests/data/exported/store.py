"""Train a small model with this version of keras_attn, and store it and its answers here.

`python tests/data/exported/store.py`; `tests/translation/test_compatibility.py` reads the files.
"""

import dataclasses
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import tensorflow as tf

import keras_attn
from keras_attn.translation import Translator

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parents[1]))
from train_command import command, write_corpus  # noqa: E402

SIZES = (
    "--steps 500 --vocab-size 320 --num-encoder-layers 1 --num-decoder-layers 1 --num-hiddens 32 "
    "--ffn-num-hiddens 32 --num-heads 2 --batch-tokens 512 --max-pieces 32 --precision float32 "
    "--learning-rate 0.01 --dropout 0 --noise 0"
).split()
TEXTS = ["犬は駅で待っています。", "猫は川で遊んでいます。\n父は庭で歌っています。", "", "123"]
LEFT_OUT = ("report.json", "report.md", "translations.tsv", "README.md", "*.png")


def answers(version: Path) -> dict:
    """Answers of a model, and all that a program relies on."""
    translator = Translator.load(version)
    best = [hypotheses[0] for hypotheses in translator.nbest(TEXTS)]
    signatures = tf.saved_model.load(str(version)).signatures
    return {
        "version": keras_attn.__version__,
        "configuration": dataclasses.asdict(translator.config),
        "texts": TEXTS,
        "translations": [one.translation for one in best],
        "scores": [one.score for one in best],
        "signatures": {
            name: {
                "inputs": sorted(signature.structured_input_signature[1]),
                "outputs": sorted(signature.structured_outputs),
            }
            for name, signature in signatures.items()
        },
    }


def store(version: Path) -> None:
    text = json.dumps(answers(version), ensure_ascii=False, indent=2) + "\n"
    for pattern in LEFT_OUT:
        for path in version.glob(pattern):
            path.unlink()
    stored = FOLDER / f"{keras_attn.__version__}.tar.xz"
    with tarfile.open(stored, "w:xz") as archive:
        archive.add(version, "1")
    (FOLDER / f"{keras_attn.__version__}.json").write_text(text, encoding="utf-8")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_corpus(folder / "corpus.tsv")
        # Its configuration holds these names.
        options = ["--data", "corpus.tsv", "--out", "model", *SIZES]
        subprocess.run(command(*options), check=True, cwd=folder)
        store(folder / "model" / "1")


if __name__ == "__main__":
    main()
