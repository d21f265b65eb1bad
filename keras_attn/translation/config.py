"""Configuration of a training run: one dataclass, saved with every model.

Every number that decides a run is a field of `Config`; `config.tsv` has its help text and range.
This module imports the standard library only: `--help` must not wait for TensorFlow.
"""

from __future__ import annotations

import dataclasses
import json
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from operator import le
from pathlib import Path
from typing import Any

from keras_attn.options import described, faults, must_be
from keras_attn.position_schemes import SCHEMES

# Raised when a field of an older file gets another meaning. Older files are read, newer ones not.
FORMAT_VERSION = 6

# New names of fields that had other names up to format version 5.
RENAMED = {
    "max_pieces": "max_length",
    "joined_share": "concat_ratio",
    "sampled_share": "sampled_softmax_fraction",
    "stable_steps": "inverse_sqrt_start",
    "cool_down": "cooldown_fraction",
    "certain_end": "forced_eos",
    "allow_unknown": "allow_unk",
}

# Separator between the names of corpora, and between the names of held-out test sets.
AND = " + "

PRECISIONS = ("float32", "bfloat16")
CHOICES = {
    "validation": ("split", "none"),
    # An older version may have exported "bpe": such a model is loaded, but not trained further.
    "tokenizer": ("unigram",),
    "position": tuple(SCHEMES),
    "norm": ("layer", "rms"),
    "activation": ("relu", "gelu", "silu"),
    "precision": PRECISIONS,
    "early_stopping": ("lookahead", "exact", "heuristic", "full"),
    "serving_precision": PRECISIONS,
}

# Pairs of fields of which the second limits the first, and the limit.
_LIMITS: dict[str, tuple[Callable[[Any, Any], bool], str]] = {
    "num_hiddens num_heads": (lambda n, heads: n % heads == 0, "a multiple of `num_heads`"),
    "num_heads num_kv_heads": (lambda n, kv: not kv or n % kv == 0, "a multiple of `num_kv_heads`"),
    "batch_tokens max_length": (
        lambda tokens, longest: tokens >= 2 * longest,
        "at least 2 * `max_length`, one pair of the greatest length",
    ),
    "logits_bias tie_embeddings": (le, "False without `tie_embeddings`"),
    "share_embeddings shared_vocab": (le, "False without `shared_vocab`"),
    "min_length_ratio max_length_ratio": (le, "at most `max_length_ratio`"),
}

# Heading of options that a training does not depend on.
SEARCH = "search of the exported model"


@dataclass(frozen=True)
@described(Path(__file__).with_name("config.tsv"), CHOICES, separators={"hold_out": AND})
class Config:
    """Sizes, budgets and choices of one translator, each described by a row of `config.tsv`.

    Fields that only an imported model sets have no flag.
    """

    data: str = "tatoeba + everyday=0.4 + jmdict=0.5 + situations"
    hold_out: str = ""
    validation: str = "split"
    source: str = "ja"
    target: str = "en"
    language_token: str = ""
    start_from: str = ""

    vocab_size: int = 8000
    tokenizer: str = "unigram"
    shared_vocab: bool = False
    subword_alpha: float = 0.0
    max_length: int = 128
    batch_tokens: int = 4096
    max_padding: float = 0.03
    concat_ratio: float = 0.02
    noise: float = 0.1

    num_encoder_layers: int = 4
    num_decoder_layers: int = 2
    num_hiddens: int = 256
    ffn_num_hiddens: int = 1024
    num_heads: int = 4
    num_kv_heads: int = 0
    position: str = "sinusoidal"
    norm: str = "layer"
    norm_epsilon: float = 1e-6
    norm_first: bool = True
    activation: str = "relu"
    gated: bool = False
    use_bias: bool = False
    tie_embeddings: bool = False
    logits_bias: bool = False
    share_embeddings: bool = False
    dropout: float = 0.1

    minutes: float = 4.0
    steps: int = 0
    patience: int = 0
    seed: int = 0
    precision: str = "float32"
    accumulate: int = 1
    label_smoothing: float = 0.1
    sampled_softmax_fraction: float = 0.25
    validation_sentences: int = 500

    learning_rate: float = 4e-3
    adam_lr_ratio: float = 0.5
    warmup_steps: int = 0
    inverse_sqrt_start: int = 675
    cooldown_fraction: float = 0.4
    clip_norm: float = 1.0
    muon_momentum: float = 0.95
    newton_schulz_steps: int = 3
    matrix_update_interval: int = 2
    adam_beta_1: float = 0.9
    adam_beta_2: float = 0.98
    average_decay: float = 0.999
    average_interval: int = 8

    beam_size: int = 4
    length_penalty: float = 1.2
    length_penalty_offset: float = 5.0
    coverage_weight: float = 0.8
    shortlist: int = 16
    early_stopping: str = "lookahead"
    forced_eos: bool = False
    allow_unk: bool = False
    allow_empty: bool = False
    min_length_ratio: float = 0.0
    max_length_ratio: float = 2.0
    max_length_extra: int = 10
    no_repeat_ngram: int = 0
    serving_precision: str = "float32"

    def validate(self) -> None:
        """Raise one `ValueError` that names every value that cannot be used."""
        found = faults(self)
        for pair, (is_allowed, allowed) in _LIMITS.items():
            names = pair.split()
            if found.keys().isdisjoint(names):
                if not is_allowed(*(getattr(self, name) for name in names)):
                    found[names[0]] = must_be(self, allowed, *names)
        if found:
            raise ValueError(f"The configuration cannot be used. {' '.join(found.values())}")

    @property
    def dtype_policy(self) -> str:
        """Keras dtype policy of the model in training."""
        return "float32" if self.precision == "float32" else "mixed_bfloat16"

    def model_options(self) -> dict[str, Any]:
        """Fields of the group "model": options of `Transformer.from_sizes`."""
        return {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if field.metadata["group"] == "model"
        }

    def save(self, path: Path) -> None:
        """Write the configuration as JSON."""
        record = {"format_version": FORMAT_VERSION, **dataclasses.asdict(self)}
        text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
        # Written next to `path`, then renamed: a file at `path` is always complete.
        aside = path.with_name(f".{path.name}.{os.getpid()}")
        aside.write_text(text, encoding="utf-8")
        os.replace(aside, path)

    @classmethod
    def load(cls, path: Path) -> Config:
        """Read a file that `save` wrote, also one of an older version of keras_attn."""
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            version = record.pop("format_version")
            is_newer = version > FORMAT_VERSION
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise ValueError(f"`{path}` is not the configuration of a translator.") from error
        if is_newer:
            raise ValueError(
                f"`{path}` was written by a newer version of keras_attn. The format version must "
                f"be at most {FORMAT_VERSION}. Received: format_version={version!r}. Update "
                "keras_attn, or train again into another folder."
            )
        record = {RENAMED.get(name, name): value for name, value in record.items()}
        known = {field.name for field in dataclasses.fields(cls)}
        if unknown := sorted(set(record) - known):
            warnings.warn(
                f"`{path}` has fields that this version of keras_attn does not know and leaves "
                f"out: {', '.join(unknown)}.",
                stacklevel=2,
            )
        return cls(**{name: value for name, value in record.items() if name in known})

    def differences(self, other: Config) -> list[str]:
        """Fields other than `minutes` and `steps` that differ, as `name: ours -> theirs`."""
        return [
            f"{name}: {ours!r} -> {getattr(other, name)!r}"
            for name, ours in dataclasses.asdict(self).items()
            if name not in ("minutes", "steps") and ours != getattr(other, name)
        ]
