"""Values of `Config` that follow from the size of the corpus and the training time."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Any

from keras_attn.translation.config import Config

# A corpus below this number of training pairs gets the sizes of `SMALL_CORPUS` for every size that
# the user does not set: a larger model would not finish enough epochs in a few minutes.
SMALL_CORPUS_PAIRS = 100_000
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
LARGE_CORPUS: dict[str, Any] = {"minutes": 7.7, "no_repeat_ngram": 4}

# Values for a backend that compiles each shape of the batches: more padding needs fewer shapes.
FIXED_SHAPES: dict[str, Any] = {"max_padding": 0.2}

# The same for a graphics card or another accelerator, where a shape takes long to compile beside
# the time of a step.
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

# Layers of encoder and decoder of a large corpus, by the most tokens that the training processes.
# A short training learns more with fewer layers, because it processes more tokens. Measured up to
# 8 million tokens and for an hour; the bounds between are interpolated
# (benchmarks/results/learning.md).
LAYERS_UP_TO_TOKENS = {4_000_000: (1, 1), 13_000_000: (2, 1), 20_000_000: (3, 1)}

# `adam_lr_ratio` of small corpora, and of large ones up to this number of tokens. Longer trainings
# overfit less with the default (benchmarks/results/learning.md).
SHORT_TRAINING_TOKENS = max(LAYERS_UP_TO_TOKENS)
SHORT_TRAINING_ADAM_LR_RATIO = 2.0

# Dropout by the number of epochs. One or two epochs do not overfit and learn more without dropout
# (benchmarks/results/learning.md). Below 60 epochs, 0.1 is better than more.
DROPOUT_UP_TO_EPOCHS = {2: 0.0, 5: 0.05, 60: 0.1}
MOST_DROPOUT = 0.3

# Beyond this number of epochs, the training of a large corpus uses subword regularization, which
# reduces overfitting. The small model of a small corpus has no capacity for it
# (benchmarks/results/learning.md), and with BPE it would take a third of the time.
EPOCHS_CUT_THE_SAME_WAY = 5
SUBWORD_ALPHA = 0.2

# Share of the steps over which the learning rate rises (benchmarks/results/learning.md).
WARM_UP_SHARE = 1 / 12

# Estimates, before anything is tokenized, of the tokens of a pair and of the speed on two cores.
_TOKENS_OF_A_PAIR = 22
# Tokens a minute. Measured with 4+2 layers: 331,000 in float32, 780,000 and 1,120,000 in bfloat16
# on two processors, 1,330,000 with 2+1 layers; 1,540,000 with the sizes of small corpora.
_TOKENS_IN_A_MINUTE = {"float32": 400_000, "bfloat16": 900_000}
_SPEED_OF_SMALL = 3
# Of an accelerator, with 6+3 layers of width 512.
_TOKENS_IN_A_MINUTE_ON_ACCELERATOR = 40_000_000


def for_corpus(num_pairs: int, num_accelerators: int = 0, **given: Any) -> Config:
    """Configuration for a corpus.

    Args:
        num_pairs: Number of training pairs.
        num_accelerators: Number of accelerators that share a batch. Defaults to 0, a processor.
        **given: Values that the user set; they are kept.
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
    # A training on a small corpus may start from a large model.
    is_fast = config.num_hiddens <= SMALL_CORPUS["num_hiddens"]
    in_a_minute = _TOKENS_IN_A_MINUTE[config.precision] * (_SPEED_OF_SMALL if is_fast else 1)
    if num_accelerators:
        in_a_minute = num_accelerators * _TOKENS_IN_A_MINUTE_ON_ACCELERATOR
    tokens = config.steps * config.batch_tokens or config.minutes * in_a_minute
    usual = (config.num_encoder_layers, config.num_decoder_layers)
    layers = usual if is_small else _up_to(tokens, LAYERS_UP_TO_TOKENS, usual)
    chosen = dict(zip(("num_encoder_layers", "num_decoder_layers"), layers, strict=True))
    if is_small or tokens <= SHORT_TRAINING_TOKENS:
        chosen["adam_lr_ratio"] = SHORT_TRAINING_ADAM_LR_RATIO
    epochs = tokens / (num_pairs * _TOKENS_OF_A_PAIR)
    chosen["dropout"] = _up_to(epochs, DROPOUT_UP_TO_EPOCHS, MOST_DROPOUT)
    is_cut_anew = not is_small and epochs > EPOCHS_CUT_THE_SAME_WAY
    if is_cut_anew and config.tokenizer == "unigram":
        chosen["subword_alpha"] = SUBWORD_ALPHA
    steps = tokens / config.batch_tokens
    chosen["warmup_steps"] = max(1, round(WARM_UP_SHARE * steps))
    return dataclasses.replace(config, **{**chosen, **given})


def summary(config: Config, given: Collection[str]) -> str:
    """Sizes and budget in one line, for the terminal.

    Args:
        config: Configuration of a training.
        given: Names of the fields that the user set. Others whose default depends on the corpus,
            the time or the machine are marked by an asterisk.

    Example:

    >>> summary(for_corpus(5000, dropout=0.2, minutes=3.0), ["dropout", "minutes"])[:56]
    'Model: 2* + 2* layers, width 128*, feed-forward 512*, 4 '
    """
    chosen = {
        field.name
        for field in dataclasses.fields(config)
        if field.metadata["default_text"] and field.name not in given
    }

    def show(name: str) -> str:
        value = getattr(config, name)
        formats = {float: "g", int: ",", str: ""}
        return f"{value:{formats[type(value)]}}{'*' * (name in chosen)}"

    budget = f"{show('steps')} steps" if config.steps else f"{show('minutes')} minutes"
    return (
        f"Model: {show('num_encoder_layers')} + {show('num_decoder_layers')} layers, width "
        f"{show('num_hiddens')}, feed-forward {show('ffn_num_hiddens')}, {show('num_heads')} "
        f"heads, vocabulary {show('vocab_size')}, dropout {show('dropout')}, batches of "
        f"{show('batch_tokens')} tokens, {show('precision')}, {budget} (* chosen)"
    )


def _up_to(amount: float, table: dict[Any, Any], beyond: Any) -> Any:
    """Value of the smallest bound in `table` that is at least `amount`, else `beyond`."""
    return next((found for most, found in table.items() if amount <= most), beyond)
