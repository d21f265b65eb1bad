"""Store small models of this version of keras_attn here, with their answers.

`python tests/data/exported/store.py` stores an exported translator and a `.keras` file. The files
are read by `tests/translation/test_compatibility.py` and `tests/test_compatibility.py`.
"""

import dataclasses
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

import keras_attn
from keras_attn.translation import Translator

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parents[1]))
from train_command import command, write_corpus  # noqa: E402

SIZES = (
    "--steps 500 --vocab-size 320 --num-encoder-layers 1 --num-decoder-layers 1 --num-hiddens 32 "
    "--ffn-num-hiddens 32 --num-heads 2 --batch-tokens 512 --max-length 32 --precision float32 "
    "--learning-rate 0.01 --dropout 0 --noise 0"
).split()
TEXTS = ["犬は駅で待っています。", "猫は川で遊んでいます。\n父は庭で歌っています。", "", "123"]
LEFT_OUT = ("report.json", "report.md", "translations.tsv", "README.md", "*.png")


def store(version: Path) -> None:
    """Store a model with its answers, and all that a program relies on."""
    translator = Translator.load(version)
    best = [hypotheses[0] for hypotheses in translator.nbest(TEXTS)]
    record = {
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
            for name, signature in tf.saved_model.load(str(version)).signatures.items()
        },
    }
    for pattern in LEFT_OUT:
        for path in version.glob(pattern):
            path.unlink()
    with tarfile.open(FOLDER / f"{keras_attn.__version__}.tar.xz", "w:xz") as archive:
        archive.add(version, "1")
    text = json.dumps(record, ensure_ascii=False, indent=2) + "\n"
    (FOLDER / f"{keras_attn.__version__}.json").write_text(text, encoding="utf-8")


def store_layers() -> None:
    ids = keras.Input((None,), dtype="int32")
    x = keras_attn.TokenEmbedding(20, 16)(ids)
    x = keras_attn.PositionalEncoding()(x)
    x = keras_attn.EncoderBlock(16, 32, num_heads=2, position=keras_attn.T5RelativeBias())(x)
    x = keras_attn.DecoderBlock(16, 32, num_heads=2, num_kv_heads=1)(x, x)
    model = keras.Model(ids, keras_attn.AdditiveAttention(8)(x, x))
    random = np.random.default_rng(3)
    model.set_weights([w + random.normal(0, 0.3, w.shape) for w in model.get_weights()])
    model.save(FOLDER / f"{keras_attn.__version__}.keras")
    example = np.array([[5, 6, 7, 8, 0], [9, 10, 0, 0, 0]])
    record = {"ids": example.tolist(), "output": np.array(model(example)).tolist()}
    path = FOLDER / f"{keras_attn.__version__}.layers.json"
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")


if __name__ == "__main__":
    store_layers()
    with tempfile.TemporaryDirectory() as name:
        write_corpus(Path(name, "corpus.tsv"))
        # Its configuration holds these names.
        options = ["--data", "corpus.tsv", "--out", "model", *SIZES]
        subprocess.run(command(*options), check=True, cwd=name)
        store(Path(name, "model", "1"))
