"""A training of `fit` on the backend and devices of the environment, without anything random.

`test_train_on_jax.py` runs it: `python backend_training.py FOLDER STEPS PARTS`. The weights are
split over that many devices. It starts from the weights in `FOLDER/initial.npz`, which it draws if
there are none. Losses and weights go to `FOLDER/result-PROCESS.npz`.
"""

import dataclasses
import sys
from pathlib import Path

import numpy as np
from keras.callbacks import LambdaCallback
from small_training import CONFIG, PAIRS, VALIDATION

from keras_attn.translation.batching.batches import Batches
from keras_attn.translation.corpus.pairs import WeightedPairs
from keras_attn.translation.model import make_model
from keras_attn.translation.tokenization import tokenizer
from keras_attn.translation.training import callbacks, validation
from keras_attn.translation.training.fit import fit
from keras_attn.translation.training.jax import devices, processes

NOTHING_RANDOM = {"dropout": 0.0, "subword_alpha": 0.0, "sampled_softmax_fraction": 1.0}


def train(folder, steps, num_parts):
    """Losses after each step, and weights after the training."""
    config = dataclasses.replace(CONFIG, steps=steps, accumulate=1, **NOTHING_RANDOM)
    # Each validation would start a process with TensorFlow, which other tests do.
    validation.translate_with = lambda *arguments: lambda texts: list(texts)
    callbacks.CHECKPOINT_SECONDS = 0.0
    tokenizers = processes.broadcast_from_primary(
        lambda: tokenizer.load_or_train(folder, PAIRS, config)
    )
    devices.split_model(num_parts, config, tokenizers.target.vocab_size)
    # Fixed shapes on TensorFlow too.
    shard = devices.shard() or devices.Shard(0, 1, 2)
    part = WeightedPairs(PAIRS, [1.0] * len(PAIRS))
    batches = Batches([part], tokenizers, config, shard)
    model = make_model(*(side.vocab_size for side in tokenizers), config)
    initial = folder / "initial.npz"
    if not initial.exists():
        random = np.random.default_rng(0)
        np.savez(initial, *(random.normal(0, 0.3, w.shape).astype("f4") for w in model.weights))
    model.set_weights([*np.load(initial).values()])
    losses = []

    def after_step(batch, logs):
        losses.append(float(logs["loss"]))  # the mean of the epoch so far
        print("step", flush=True)

    watch = LambdaCallback(on_train_batch_end=after_step)
    run = fit(model, batches, tokenizers, VALIDATION, config, folder, [watch])
    assert run.steps == steps
    return losses, *model.get_weights()


if __name__ == "__main__":
    devices.connect()
    folder, steps, num_parts = Path(sys.argv[1]), *map(int, sys.argv[2:])
    np.savez(folder / f"result-{processes.index()}.npz", *train(folder, steps, num_parts))
    processes.shutdown()
