"""Everything that decides what a training run does, in one dataclass saved with every model."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Raised when a model exported before can no longer be read by this code.
FORMAT_VERSION = 5

PRECISIONS = ("float32", "bfloat16")
TOKENIZERS = ("unigram", "bpe")

# A corpus below this many training pairs gets the sizes of `SMALL_CORPUS` for what the user does
# not choose: a larger model would not finish enough epochs in a few minutes to be worth its size.
SMALL_CORPUS_PAIRS = 100_000
SMALL_CORPUS: dict[str, Any] = {
    "vocab_size": 3000,
    "batch_tokens": 2048,
    "num_encoder_layers": 2,
    "num_decoder_layers": 2,
    "num_hiddens": 128,
    "ffn_num_hiddens": 512,
}

# A short training of a larger corpus learns more with fewer layers, which see more of it in the
# time: layers of encoder and decoder, by the tokens that it would see at most. Up to 8 million were
# measured beside others, and an hour; what is between is drawn from that
# (benchmarks/results/learning.md).
LAYERS_UP_TO_TOKENS = {4_000_000: (1, 1), 13_000_000: (2, 1), 20_000_000: (3, 1)}

# Part of the matrices' rate that Adam has for the rest, up to so many tokens of a large corpus and
# for small ones: beyond, the usual one learns less by heart (benchmarks/results/learning.md).
SHORT_TRAINING_TOKENS = max(LAYERS_UP_TO_TOKENS)
SHORT_TRAINING_ADAM_LR_RATIO = 2.0

# Dropout by how often, at most, a training sees each pair: what is seen once or twice is not learnt
# by heart, and teaches more without (benchmarks/results/learning.md). Below 60
# times 0.1 is better than more (benchmarks/results/presets.md).
DROPOUT_UP_TO_EPOCHS = {2: 0.0, 5: 0.05, 60: 0.1}
MOST_DROPOUT = 0.3

# A training of a large corpus that sees each pair more often than this cuts it anew each time: what
# comes in other pieces is not learnt by heart. The small model of a small corpus has no room for
# that (benchmarks/results/learning.md), and cutting BPE pieces anew would take a third of the time.
EPOCHS_CUT_THE_SAME_WAY = 5
SUBWORD_ALPHA = 0.2

# Part of the steps over which the learning rate rises (benchmarks/results/learning.md).
WARM_UP_SHARE = 1 / 12

# What is known of the epochs before anything is cut into pieces: about, on two cores.
_TOKENS_OF_A_PAIR = 22
# With 4+2 layers 331,000 in float32, in bfloat16 780,000 and 1,120,000 on two processors, where the
# sizes of small corpora saw 1,540,000; fewer layers see more.
_TOKENS_IN_A_MINUTE = {"float32": 400_000, "bfloat16": 600_000}
_SPEED_OF_SMALL = 3


@dataclass(frozen=True)
class Config:
    """Sizes, budgets and choices of one translator.

    Args:
        data: Corpora by name or path, with their weights, as `load_corpus` takes them.
        source: Language code of the source text.
        target: Language code of the target text.
        start_from: Exported version, or folder of an unfinished training, whose tokenizers, sizes
            and weights training begins with; nothing for a new model.
        vocab_size: Pieces of each tokenizer, at most.
        tokenizer: How SentencePiece finds pieces, `"unigram"` or `"bpe"`.
        shared_vocab: Whether one tokenizer serves both languages.
        subword_alpha: How training cuts words anew in each batch (`Tokenizer.sample`); 0 for always
            the same way.
        max_pieces: Longest side in pieces, end mark included: longer pairs are left out of
            training, longer texts are cut when translating.
        batch_tokens: Source and target tokens of a batch, padding included, at most.
        accumulate: Batches whose gradients make one step of the optimiser together.
        num_encoder_layers: Blocks of the encoder.
        num_decoder_layers: Blocks of the decoder.
        num_hiddens: Width `D` of the model.
        ffn_num_hiddens: Inner width of the feed-forward networks.
        num_heads: Attention heads `H`; divides `num_hiddens`.
        dropout: Dropout rate, 0 up to but not including 1; training rounds it to 1/256.
        label_smoothing: Probability mass spread over the vocabulary, 0 up to but not including 1.
        learning_rate: Highest learning rate, reached at the end of the warm-up: of matrices.
        adam_lr_ratio: How much of it embeddings, the kernel of the logits and vectors have.
        warmup_steps: Batches over which the learning rate rises.
        cool_down: Last part of the training time over which the learning rate falls to 0, above 0,
            at most 1.
        clip_norm: Largest global norm of the gradients.
        average_decay: Decay per batch of the moving average of the weights that is evaluated and
            exported.
        beam_size: Hypotheses that the exported model's search follows; 1 is greedy search.
        length_penalty: Exponent `alpha` of the length penalty of Wu et al. 2016, at least 0.
        min_length_ratio: Shortest translation in pieces, as a share of the source's.
        max_length_ratio: Longest one, with 10 pieces more for short sources.
        no_repeat_ngram: Length of piece sequences that no translation has twice; 0 for any.
        minutes: Training time, validation included.
        steps: Batches to train on, however long they take; 0 for as many as `minutes` allow. With
            it, the same seed gives the same model on the same cores, interrupted or not.
        patience: Validations in a row without a better BLEU after which training ends; 0 for any.
        seed: Seed of everything random.
        precision: `"float32"` or `"bfloat16"` (weights and the loss stay in float32). `train.py`
            takes the one that this machine is faster in.
        serving_precision: Of the products of the exported model's search. In `"bfloat16"` batches
            are faster on a processor that has it and slower on others, and some translations
            differ.
    """

    data: str = "everyday"
    source: str = "ja"
    target: str = "en"
    start_from: str = ""
    vocab_size: int = 8000
    tokenizer: str = "unigram"
    shared_vocab: bool = False
    subword_alpha: float = 0.0
    max_pieces: int = 128
    batch_tokens: int = 4096
    accumulate: int = 1
    num_encoder_layers: int = 4
    num_decoder_layers: int = 2
    num_hiddens: int = 256
    ffn_num_hiddens: int = 1024
    num_heads: int = 4
    dropout: float = 0.1
    label_smoothing: float = 0.1
    learning_rate: float = 4e-3
    adam_lr_ratio: float = 0.5
    warmup_steps: int = 300
    cool_down: float = 0.4
    clip_norm: float = 1.0
    average_decay: float = 0.999
    beam_size: int = 4
    length_penalty: float = 1.2
    min_length_ratio: float = 0.0
    max_length_ratio: float = 2.0
    no_repeat_ngram: int = 0
    minutes: float = 4.0
    steps: int = 0
    patience: int = 0
    seed: int = 0
    precision: str = "float32"
    serving_precision: str = "float32"

    @classmethod
    def for_corpus(cls, num_pairs: int, **given: Any) -> Config:
        """The configuration for a corpus of `num_pairs` training pairs, with the `given` values."""
        is_small = num_pairs < SMALL_CORPUS_PAIRS
        config = cls(**{**(SMALL_CORPUS if is_small else {}), **given})
        config.validate()
        in_a_minute = _TOKENS_IN_A_MINUTE[config.precision] * (_SPEED_OF_SMALL if is_small else 1)
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

    def validate(self) -> None:
        """Raise one `ValueError` that names every value that cannot be used."""
        faults = [fault for fault in (*self._size_faults(), *self._range_faults()) if fault]
        if faults:
            raise ValueError("The configuration cannot be used. " + " ".join(faults))

    def _size_faults(self) -> list[str]:
        whole = (
            "vocab_size",
            "max_pieces",
            "batch_tokens",
            "accumulate",
            "num_encoder_layers",
            "num_decoder_layers",
            "num_hiddens",
            "ffn_num_hiddens",
            "num_heads",
            "warmup_steps",
            "beam_size",
        )
        faults = [
            f"`{name}` must be a positive whole number. Received: {name}={getattr(self, name)!r}."
            for name in whole
            if not isinstance(getattr(self, name), int) or getattr(self, name) < 1
        ]
        if not faults and self.num_hiddens % self.num_heads:
            faults.append(
                "`num_hiddens` must be a multiple of `num_heads`. "
                f"Received: num_hiddens={self.num_hiddens}, num_heads={self.num_heads}."
            )
        if not faults and self.batch_tokens < 2 * self.max_pieces:
            faults.append(
                "`batch_tokens` must hold one pair of the greatest length, 2 * `max_pieces`. "
                f"Received: batch_tokens={self.batch_tokens}, max_pieces={self.max_pieces}."
            )
        return faults

    def _range_faults(self) -> list[str]:
        faults = [
            f"`{name}` must be at least 0 and below 1. Received: {name}={getattr(self, name)!r}."
            for name in ("dropout", "label_smoothing", "average_decay")
            if not 0 <= getattr(self, name) < 1
        ]
        faults += [
            f"`{name}` must be finite and above 0. Received: {name}={getattr(self, name)!r}."
            for name in ("learning_rate", "adam_lr_ratio", "clip_norm", "minutes")
            if not 0 < getattr(self, name) < math.inf
        ]
        if not 0 < self.cool_down <= 1:
            faults.append(
                "`cool_down` must be above 0 and at most 1. "
                f"Received: cool_down={self.cool_down!r}."
            )
        faults += [
            f"`{name}` must be at least 0. Received: {name}={getattr(self, name)!r}."
            for name in (
                "length_penalty",
                "min_length_ratio",
                "max_length_ratio",
            )
            if not getattr(self, name) >= 0
        ]
        faults += [
            f"`{name}` must be a whole number of at least 0. "
            f"Received: {name}={getattr(self, name)!r}."
            for name in ("no_repeat_ngram", "steps", "patience")
            if not isinstance(getattr(self, name), int) or getattr(self, name) < 0
        ]
        if not 0 <= self.subword_alpha <= 1:
            faults.append(
                "`subword_alpha` must be from 0 to 1. "
                f"Received: subword_alpha={self.subword_alpha!r}."
            )
        if not isinstance(self.seed, int) or not 0 <= self.seed < 2**32:
            faults.append(
                f"`seed` must be a whole number from 0 to 2**32 - 1. Received: seed={self.seed!r}."
            )
        if self.min_length_ratio > self.max_length_ratio:
            faults.append(
                "`min_length_ratio` must be at most `max_length_ratio`. Received: min_length_ratio="
                f"{self.min_length_ratio!r}, max_length_ratio={self.max_length_ratio!r}."
            )
        if self.tokenizer not in TOKENIZERS:
            faults.append(
                f'`tokenizer` must be "unigram" or "bpe". Received: tokenizer={self.tokenizer!r}.'
            )
        faults += [
            f'`{name}` must be "float32" or "bfloat16". Received: {name}={getattr(self, name)!r}.'
            for name in ("precision", "serving_precision")
            if getattr(self, name) not in PRECISIONS
        ]
        return faults

    @property
    def dtype_policy(self) -> str:
        """The Keras dtype policy of the model while it trains."""
        return "float32" if self.precision == "float32" else "mixed_bfloat16"

    def layer_sizes(self) -> dict[str, Any]:
        """The arguments of `Transformer.from_sizes` besides the vocabularies and the dtype."""
        names = (
            "num_encoder_layers",
            "num_decoder_layers",
            "num_hiddens",
            "ffn_num_hiddens",
            "num_heads",
            "dropout",
        )
        # Sentences are short: without blocks, graphs are smaller and traced in less time.
        return {**{name: getattr(self, name) for name in names}, "blockwise": False}

    def save(self, path: Path) -> None:
        """Write the configuration as JSON."""
        record = {"format_version": FORMAT_VERSION, **dataclasses.asdict(self)}
        text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
        # Aside, then renamed: a file at `path` is always whole.
        aside = path.with_name(f".{path.name}.{os.getpid()}")
        aside.write_text(text, encoding="utf-8")
        os.replace(aside, path)

    @classmethod
    def load(cls, path: Path) -> Config:
        """Read what `save` wrote.

        Raises:
            ValueError: If the file is of another format version or is not a configuration.
        """
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            version = record.pop("format_version")
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise ValueError(f"`{path}` is not the configuration of a translator.") from error
        if version != FORMAT_VERSION:
            raise ValueError(
                f"`{path}` was written by another version of keras_attn: expected format version "
                f"{FORMAT_VERSION}. Received: format_version={version!r}. Train again into another "
                "folder, or use the version of keras_attn that wrote it."
            )
        known = {field.name for field in dataclasses.fields(cls)}
        if set(record) != known:
            raise ValueError(
                f"`{path}` must hold exactly the fields of the configuration. "
                f"Received: missing={sorted(known - set(record))}, "
                f"unknown={sorted(set(record) - known)}."
            )
        return cls(**record)

    def differences(self, other: Config) -> list[str]:
        """Fields that differ from `other`, but `minutes` and `steps`, as `name: ours -> theirs`."""
        return [
            f"{name}: {ours!r} -> {getattr(other, name)!r}"
            for name, ours in dataclasses.asdict(self).items()
            if name not in ("minutes", "steps") and ours != getattr(other, name)
        ]


def _up_to(amount: float, table: dict[Any, Any], beyond: Any) -> Any:
    """Value of the smallest bound in `table` that is at least `amount`, else `beyond`."""
    return next((found for most, found in table.items() if amount <= most), beyond)
