"""A training of `fit` on the backend and devices of the environment.

`test_train_on_jax.py` runs it: `python backend_training.py FOLDER STEPS PARTS`. The weights are
split over that many devices. Losses and weights go to
`FOLDER/result-PROCESS.npz`. It starts from the weights in
`FOLDER/initial.npz`, without dropout and with the whole vocabulary.
"""

import sys
from pathlib import Path

import keras
import numpy as np

from keras_attn.translation.batching.batches import Batches
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.cleaning import Pair
from keras_attn.translation.corpus.slices import Part
from keras_attn.translation.corpus.splits import Example
from keras_attn.translation.machine import processes
from keras_attn.translation.model import make_model
from keras_attn.translation.tokenization import tokenizer
from keras_attn.translation.training import callbacks, validation
from keras_attn.translation.training.fit import fit

PAIRS = [
    Pair(f"{a}は{b}{'とても' * n}好きです。", f"{x} likes {y}{' very' * n} much.")
    for a, x in [("犬", "The dog"), ("猫", "The cat"), ("鳥", "The bird"), ("父", "My father")]
    for b, y in [("水が", "water"), ("肉が", "meat"), ("歌が", "songs"), ("雨が", "rain")]
    for n in (0, 1, 4)
]
CONFIG = Config(
    vocab_size=320,
    max_pieces=32,
    batch_tokens=256,
    max_padding=0.3,
    num_encoder_layers=1,
    num_decoder_layers=1,
    num_hiddens=8,
    ffn_num_hiddens=8,
    num_heads=2,
    dropout=0.0,
    sampled_share=1.0,
    warmup_steps=10,
)


class Losses(keras.callbacks.Callback):
    """Mean loss of the epoch so far, after each step."""

    def __init__(self):
        super().__init__()
        self.values = []

    def on_train_batch_end(self, batch, logs=None):
        self.values.append(float(logs["loss"]))
        print("step", flush=True)


def train(folder, steps, draw, num_parts=1):
    """Initial weights, which `draw` makes for their shapes; losses; weights after the training."""
    config = Config(**{**vars(CONFIG), "steps": steps})
    # Each validation would start a process with TensorFlow, which other tests do.
    validation.translate_with = lambda *arguments: lambda texts: list(texts)
    callbacks.CHECKPOINT_SECONDS = 0.0
    tokenizers = processes.by_first(lambda: tokenizer.load_or_train(folder, PAIRS, config))
    processes.split_model(num_parts, config, tokenizers.target.vocab_size)
    # Fixed shapes on TensorFlow too.
    shard = processes.shard() or processes.Shard(0, 1, 2)
    part = Part(PAIRS, [1.0] * len(PAIRS))
    batches = Batches([lambda: part], tokenizers, config, shard)
    keras.utils.set_random_seed(config.seed)
    model = make_model(tokenizers.source.vocab_size, tokenizers.target.vocab_size, config)
    initial = draw([weight.shape for weight in model.weights])
    model.set_weights(initial)
    examples = [Example(pair.source, (pair.target,)) for pair in PAIRS[::12]]
    losses = Losses()
    run = fit(model, batches, tokenizers, examples, config, folder, [losses])
    assert run.steps == steps
    return initial, losses.values, model.get_weights()


if __name__ == "__main__":
    processes.join()
    folder, steps, num_parts = Path(sys.argv[1]), *map(int, sys.argv[2:])
    given = list(np.load(folder / "initial.npz").values())
    _, losses, weights = train(folder, steps, lambda shapes: given, num_parts)
    np.savez(folder / f"result-{processes.index()}.npz", losses, *weights)
    processes.leave()
