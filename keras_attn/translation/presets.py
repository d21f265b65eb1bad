"""Values of `Config` that follow from the size of the corpus and the training time."""

import dataclasses
import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from keras_attn.translation.config import Config

# A corpus below this number of training pairs gets the sizes of `SMALL_CORPUS` for every size that
# the user does not set: a larger model would not finish enough epochs in a few minutes.
SMALL_CORPUS_PAIRS = 180_000
SMALL_CORPUS: dict[str, Any] = {
    "vocab_size": 3000,
    "batch_tokens": 2048,
    "num_encoder_layers": 2,
    "num_decoder_layers": 2,
    "num_hiddens": 128,
    "ffn_num_hiddens": 512,
}

# Values for a large corpus. With this training time, `python train.py` takes less than 10 minutes.
# Repeated n-grams of natural language are mostly loops of the search
# (benchmarks/results/learning.md); a small corpus may be something else, such as numbers.
LARGE_CORPUS: dict[str, Any] = {"minutes": 6.7, "no_repeat_ngram": 4}

# Values for a backend that compiles each shape of the batches: more padding needs fewer shapes.
FIXED_SHAPES: dict[str, Any] = {"max_padding": 0.2}

# The same for a graphics card or another accelerator, where a shape takes long to compile compared
# with the time of a step.
FIXED_SHAPES_ON_ACCELERATOR: dict[str, Any] = {"max_padding": 0.4}

# Values for an accelerator (benchmarks/results/training.md): updates of all matrices cost little
# there. Random segmentations, made by the processor, could not keep up with it.
ON_ACCELERATOR: dict[str, Any] = {
    "matrix_update_interval": 1,
    "sampled_softmax_fraction": 1.0,
    "subword_alpha": 0.0,
}
LARGE_ON_ACCELERATOR: dict[str, Any] = {
    "num_encoder_layers": 6,
    "num_decoder_layers": 3,
    "num_hiddens": 512,
    "ffn_num_hiddens": 2048,
    "num_heads": 8,
}
# Tokens of a batch for each accelerator.
BATCH_TOKENS_ON_ACCELERATOR = 32_768

# Layers of encoder and decoder of a large corpus, by the most floating-point operations of a
# training. A short training learns more with fewer layers, because it processes more tokens.
# Measured for 10, 20, 40 and 60 minutes of two cores; the bounds are between these
# (benchmarks/results/learning.md).
LAYERS_UP_TO_OPERATIONS = {78e12: (1, 1), 175e12: (2, 1), 335e12: (3, 1)}

# `adam_lr_ratio` of small corpora, and of large ones up to this number of operations. Longer
# trainings overfit less with the default (benchmarks/results/learning.md).
SHORT_TRAINING_OPERATIONS = max(LAYERS_UP_TO_OPERATIONS)
SHORT_TRAINING_ADAM_LR_RATIO = 2.0

# Dropout by the number of epochs. One or two epochs do not overfit and learn more without dropout
# (benchmarks/results/learning.md). Below 60 epochs, 0.1 is better than more.
DROPOUT_UP_TO_EPOCHS = {2: 0.0, 5: 0.05, 60: 0.1}
MOST_DROPOUT = 0.3

# Beyond this number of epochs, the training of a large corpus uses subword regularization, which
# reduces overfitting. The small model of a small corpus has no capacity for it
# (benchmarks/results/learning.md).
EPOCHS_WITH_EQUAL_SEGMENTATION = 5
SUBWORD_ALPHA = 0.2

# Tokens of a pair, an estimate before anything is tokenized.
_TOKENS_OF_A_PAIR = 22
# Time of a token in addition to its matrix products, as float32 operations: in each layer for each
# of its features, and once. With it, estimates are within 20% of the measured speed
# (benchmarks/results/learning.md).
_OTHERS_OF_A_LAYER, _OTHERS_OF_A_TOKEN = 8_000, 1_500_000
# Tokens a minute of an accelerator, with 6+3 layers of width 512.
_TOKENS_IN_A_MINUTE_ON_ACCELERATOR = 40_000_000

# Share of the training pairs whose target is within the limit of the length of a translation.
WITHIN_LENGTH_LIMIT = 0.999


def for_corpus(
    num_pairs: int, speeds: Mapping[str, float], num_accelerators: int = 0, **given: Any
) -> Config:
    """Configuration for a number of training pairs on this machine, with the values `given`.

    The machine has the `speeds` of `runtime.precision.measure_speeds`.
    """
    is_small = num_pairs < SMALL_CORPUS_PAIRS
    usual_values = SMALL_CORPUS if is_small else LARGE_CORPUS
    if num_accelerators:
        given = {**ON_ACCELERATOR, **given}
        if not is_small:
            batch = {"batch_tokens": num_accelerators * BATCH_TOKENS_ON_ACCELERATOR}
            usual_values = {**usual_values, **LARGE_ON_ACCELERATOR, **batch}
    config = Config(**{**usual_values, **given})
    config.validate()

    def tokens_of(config: Config) -> float:
        if config.steps:
            return config.steps * config.batch_tokens
        if num_accelerators:
            return config.minutes * num_accelerators * _TOKENS_IN_A_MINUTE_ON_ACCELERATOR
        return 60 * config.minutes / seconds_of_a_token(config, speeds)

    for bound, (encoder, decoder) in LAYERS_UP_TO_OPERATIONS.items() if not is_small else ():
        layers = {"num_encoder_layers": encoder, "num_decoder_layers": decoder, **given}
        smaller = dataclasses.replace(config, **layers)
        if tokens_of(smaller) * operations_of_a_token(smaller) <= bound:
            config = smaller
            break
    tokens = tokens_of(config)
    epochs = tokens / (num_pairs * _TOKENS_OF_A_PAIR)
    rates = (rate for most, rate in DROPOUT_UP_TO_EPOCHS.items() if epochs <= most)
    chosen: dict[str, Any] = {"dropout": next(rates, MOST_DROPOUT)}
    if is_small or tokens * operations_of_a_token(config) <= SHORT_TRAINING_OPERATIONS:
        chosen["adam_lr_ratio"] = SHORT_TRAINING_ADAM_LR_RATIO
    if not is_small and epochs > EPOCHS_WITH_EQUAL_SEGMENTATION:
        chosen["subword_alpha"] = SUBWORD_ALPHA
    return dataclasses.replace(config, **{**chosen, **given})


def with_length_limit(config: Config, lengths: np.ndarray, given: Collection[str]) -> Config:
    """Configuration with a `max_length_ratio` by the `lengths (N, 2)` of the training pairs."""
    if "max_length_ratio" in given:
        return config
    source, target = lengths.T
    ratios = (target - 1 - config.max_length_extra) / source
    ratio = math.ceil(10 * np.quantile(ratios, WITHIN_LENGTH_LIMIT, method="inverted_cdf")) / 10
    return dataclasses.replace(config, max_length_ratio=max(ratio, 1.0))


def operations_of_a_token(config: Config) -> float:
    """Estimate the floating-point operations of matrix products that train on a token.

    A token is of the source or of the target, as many of each. Each weight takes part in six
    operations: a multiplication and an addition forward, and twice as many backward (Kaplan et al.
    2020, section 2.1). Products of queries with keys are few for sentences, and left out.
    """
    width, inner = config.num_hiddens, config.ffn_num_hiddens
    feed_forward = (3 if config.gated else 2) * width * inner
    encoder = config.num_encoder_layers * (4 * width**2 + feed_forward)
    decoder = config.num_decoder_layers * (8 * width**2 + feed_forward)
    logits = config.sampled_softmax_fraction * config.vocab_size * width
    return 6 * (encoder + decoder + logits) / 2


def seconds_of_a_token(config: Config, speeds: Mapping[str, float]) -> float:
    """Estimate the seconds that a processor trains on a token; see `for_corpus`."""
    layers = (config.num_encoder_layers + config.num_decoder_layers) / 2
    others = _OTHERS_OF_A_LAYER * config.num_hiddens * layers + _OTHERS_OF_A_TOKEN
    return operations_of_a_token(config) / speeds[config.precision] + others / speeds["float32"]


def summary(config: Config, given: Collection[str]) -> str:
    """Sizes and budget in one line; an asterisk marks those that the user has not given.

    >>> config = for_corpus(5000, {"float32": 2e11}, dropout=0.2, minutes=3.0)
    >>> summary(config, ["dropout", "minutes"])[:56]
    'Model: 2* + 2* layers, width 128*, feed-forward 512*, 4 '
    """
    formats = {float: "g", int: ","}
    shown = {}
    for field in dataclasses.fields(config):
        is_chosen = field.metadata["default_text"] and field.name not in given
        value = getattr(config, field.name)
        shown[field.name] = f"{value:{formats.get(type(value), '')}}{'*' if is_chosen else ''}"
    budget = "{steps} steps" if config.steps else "{minutes} minutes"
    return (
        "Model: {num_encoder_layers} + {num_decoder_layers} layers, width {num_hiddens}, "
        "feed-forward {ffn_num_hiddens}, {num_heads} heads, vocabulary {vocab_size}, dropout "
        f"{{dropout}}, batches of {{batch_tokens}} tokens, {{precision}}, {budget} (* chosen)"
    ).format(**shown)
