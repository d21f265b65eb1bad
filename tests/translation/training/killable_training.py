"""A training of `steps` batches in `folder` that saves after each; its weights go to `result`.

`test_resume.py` runs it with these three names set.
"""

import keras
import numpy as np

from keras_attn.translation.batching.batches import Batches
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.cleaning import Pair
from keras_attn.translation.corpus.slices import Part
from keras_attn.translation.corpus.splits import Example
from keras_attn.translation.machine import threads
from keras_attn.translation.model import make_model
from keras_attn.translation.tokenization import tokenizer
from keras_attn.translation.training import callbacks, sharding
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
    num_encoder_layers=1,
    num_decoder_layers=1,
    num_hiddens=8,
    ffn_num_hiddens=8,
    num_heads=2,
    dropout=0.3,
    subword_alpha=0.1,
    warmup_steps=10,
    steps=steps,  # noqa: F821
)
callbacks.CHECKPOINT_SECONDS = 0.0
threads.num_cores = lambda: 2  # on every machine
threads.one_core_for_each_operation()
assert sharding.num_shards(CONFIG.batch_tokens) == 2
tokenizers = tokenizer.load_or_train(folder, PAIRS, CONFIG)  # noqa: F821
stream = Batches([lambda: Part(PAIRS, [1.0] * len(PAIRS))], tokenizers, CONFIG)
assert 2 < stream.steps_per_epoch < CONFIG.steps / 3
keras.utils.set_random_seed(CONFIG.seed)
model = make_model(tokenizers.source.vocab_size, tokenizers.target.vocab_size, CONFIG)
validation = [Example(pair.source, (pair.target,)) for pair in PAIRS[::12]]
run = fit(model, stream, tokenizers, validation, CONFIG, folder)  # noqa: F821
assert run.steps == CONFIG.steps
np.savez(result, *model.get_weights())  # noqa: F821
