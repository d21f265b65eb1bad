"""Configuration of a training run: one dataclass, saved with every model.

Every number that decides a run is a field of `Config`, with its help text and its range. `train.py`
makes its flags from these fields, so this module imports the standard library only: `--help` must
not wait for TensorFlow.
"""

from __future__ import annotations

import dataclasses
import json
import os
import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from keras_attn.options import faults, must_be, option
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
NORMS = ("layer", "rms")
ACTIVATIONS = ("relu", "gelu", "silu")

# Headings of the options. A training does not depend on those of the search.
SEARCH = "search of the exported model"
_text, _tokens, _model, _training, _optimizer, _search = (
    partial(option, group=group)
    for group in ("text", "tokens and batches", "model", "training", "optimizer", SEARCH)
)
_imported = partial(_search, has_flag=False)
_share = partial(_tokens, metavar="SHARE", least=0, most=1)
_decay = partial(_optimizer, metavar="DECAY", least=0, below=1)
_BY_CORPUS = "by the corpus"
_BY_TIME = "by corpus and time"


@dataclass(frozen=True)
class Config:
    """Sizes, budgets and choices of one translator.

    Each field has its help text, its range and the heading of its flag (`option`). Fields that
    only an imported model sets have no flag.
    """

    data: str = _text(
        "tatoeba + everyday=0.4 + jmdict=0.5",
        "corpora, as 'A + B=WEIGHT': everyday, tatoeba, jmdict, jesc, kftt, opus:NAME, tfds:NAME, "
        "a TSV file, or two files and a comma",
        "CORPUS",
    )
    hold_out: str = _text(
        "",
        "test set, as --data without weight: what shares a sentence with it is neither trained nor "
        "validated on, and the report scores it; may be given several times",
        "TEST_SET",
        separator=AND,
    )
    validation: str = _text(
        "split",
        "split: some sentences are kept apart, to choose the best weights and to score them; none: "
        "all pairs are trained on, those that are scored too",
        choices=("split", "none"),
    )
    source: str = _text("ja", "language code of the source text", "LANGUAGE")
    target: str = _text("en", "language code of the target text", "LANGUAGE")
    language_token: str = _text(
        "",
        "token that an imported model with several target languages reads first, such as >>por<<; "
        "a text that begins with another such token is translated by that one",
        has_flag=False,
    )
    start_from: str = _text(
        "",
        "exported model or unfinished training to start from; its tokenizers, sizes and weights "
        "are taken",
        "MODEL",
        default_text="a new model",
    )

    vocab_size: int = _tokens(
        8000, "most tokens in the vocabulary of each language", "TOKENS", default_text=_BY_CORPUS
    )
    # An older version may have exported "bpe": such a model is loaded, but not trained further.
    tokenizer: str = _tokens("unigram", "kind of tokenizer", choices=("unigram",), has_flag=False)
    shared_vocab: bool = _tokens(False, "use one tokenizer for both languages")
    subword_alpha: float = _tokens(
        0.0,
        "subword regularization: smoothing of the sampling (0.1 to 0.5 is useful); 0 is off",
        "ALPHA",
        least=0,
        most=1,
        default_text=_BY_TIME,
    )
    max_length: int = _tokens(
        128,
        "longest sentence in tokens, end mark included; longer training pairs are left out, longer "
        "texts are translated in parts",
        "TOKENS",
    )
    batch_tokens: int = _tokens(
        4096,
        "most source and target tokens in a batch, with padding",
        "TOKENS",
        default_text=_BY_CORPUS,
    )
    max_padding: float = _tokens(
        0.03,
        "largest share of padding in the batches; a smaller share needs more shapes",
        "SHARE",
        above=0,
        below=1,
    )
    concat_ratio: float = _share(
        0.02,
        "number of pairs of two or three sentences, joined from training pairs, as a share of all "
        "other pairs; 0 is off",
    )
    noise: float = _share(
        0.1,
        "share of the source texts with one change: a typing error, other punctuation or another "
        "spelling; 0 is off",
    )

    num_encoder_layers: int = _model(4, "number of encoder blocks", "BLOCKS", default_text=_BY_TIME)
    num_decoder_layers: int = _model(2, "number of decoder blocks", "BLOCKS", default_text=_BY_TIME)
    num_hiddens: int = _model(256, "width of the model", "WIDTH", default_text=_BY_CORPUS)
    ffn_num_hiddens: int = _model(
        1024, "inner width of the feed-forward networks", "WIDTH", default_text=_BY_CORPUS
    )
    num_heads: int = _model(4, "number of attention heads; must divide --num-hiddens", "HEADS")
    num_kv_heads: int = _model(
        0,
        "number of heads of keys and values; must divide --num-heads",
        "HEADS",
        least=0,
        default_text="0, as many as --num-heads",
    )
    position: str = _model(
        "sinusoidal",
        "kind of positions: sinusoidal and learned ones are added to the embeddings, the others "
        "are inside the scores; sinusoidal_halves has all sines before all cosines",
        choices=tuple(SCHEMES),
    )
    norm: str = _model("layer", "kind of normalisation", choices=NORMS)
    norm_epsilon: float = _model(
        1e-6, "number that normalisation adds to the variance", above=0, below=1, has_flag=False
    )
    norm_first: bool = _model(
        True, "normalise the input of each sub-layer, in place of its sum with the output"
    )
    activation: str = _model("relu", "activation of the feed-forward networks", choices=ACTIVATIONS)
    gated: bool = _model(False, "multiply the activation by a second projection (GLU)")
    use_bias: bool = _model(False, "biases in the projections of attention")
    tie_embeddings: bool = _model(False, "compute logits with the embeddings of the target tokens")
    logits_bias: bool = _model(False, "add a bias to the logits of tied embeddings", has_flag=False)
    share_embeddings: bool = _model(
        False, "use one table of embeddings for source and target; needs --shared-vocab"
    )
    dropout: float = _model(
        0.1, "dropout rate, in steps of 1/256", "RATE", least=0, below=1, default_text=_BY_TIME
    )

    minutes: float = _training(
        4.0,
        "training time in minutes, validation included",
        "MINUTES",
        above=0,
        default_text="4, or 7.7 for a large corpus",
    )
    steps: int = _training(
        0, "number of batches to train on, in place of --minutes; 0 is off", "BATCHES", least=0
    )
    patience: int = _training(
        0, "stop after this number of epochs without a better BLEU; 0 is off", "EPOCHS", least=0
    )
    seed: int = _training(
        0,
        "random seed; with --steps and --precision, results are reproducible",
        "SEED",
        least=0,
        below=2**32,
    )
    precision: str = _training(
        "float32",
        "precision of the matrix products; weights and loss are float32",
        choices=PRECISIONS,
        default_text="the faster one on this machine",
    )
    accumulate: int = _training(
        1, "number of batches whose gradients make one optimizer step", "BATCHES"
    )
    label_smoothing: float = _training(
        0.1, "probability mass spread over the vocabulary", "MASS", least=0, below=1
    )
    sampled_softmax_fraction: float = _training(
        0.25,
        "share of the target vocabulary whose logits are computed for a batch; 1 is all of it",
        "SHARE",
        above=0,
        most=1,
    )
    validation_sentences: int = _training(
        500, "largest number of sentences that a validation translates", "SENTENCES"
    )

    learning_rate: float = _optimizer(
        4e-3,
        "highest learning rate, reached after the warm-up, of the matrices in the blocks (Muon)",
        "RATE",
        above=0,
        default_text="0.004, or 0.0008 with --start-from",
    )
    adam_lr_ratio: float = _optimizer(
        0.5,
        "learning rate of all other weights (Adam) as a multiple of --learning-rate",
        "RATIO",
        above=0,
        default_text=_BY_TIME,
    )
    warmup_steps: int = _optimizer(
        0, "number of batches of the warm-up; 0 is a twelfth of the training", "BATCHES", least=0
    )
    inverse_sqrt_start: int = _optimizer(
        675, "batch n after which the learning rate decays as sqrt(n / batch)", "BATCHES"
    )
    cooldown_fraction: float = _optimizer(
        0.4, "last share of the training, in which the rate falls to 0", "SHARE", above=0, most=1
    )
    clip_norm: float = _optimizer(1.0, "largest global norm of the gradients", "NORM", above=0)
    muon_momentum: float = _optimizer(0.95, "momentum of Muon", "MOMENTUM", least=0, below=1)
    newton_schulz_steps: int = _optimizer(
        3, "Newton-Schulz steps that orthogonalize an update of Muon", "STEPS"
    )
    matrix_update_interval: int = _optimizer(
        2,
        "number n of steps between two updates of a matrix by Muon; an update is n times as large",
        "STEPS",
    )
    adam_beta_1: float = _decay(0.9, "decay of the first moment of Adam")
    adam_beta_2: float = _decay(0.98, "decay of the second moment of Adam")
    average_decay: float = _decay(
        0.999, "decay a batch of the moving average of the weights, which is validated and exported"
    )
    average_interval: int = _optimizer(
        8, "number of batches between two updates of the moving average", "BATCHES"
    )

    beam_size: int = _search(4, "number of hypotheses; 1 is greedy search", "HYPOTHESES", most=1000)
    length_penalty: float = _search(
        1.2,
        "exponent of the length penalty; 0 prefers short translations",
        "EXPONENT",
        least=0,
        most=10,
    )
    length_penalty_offset: float = _imported(
        5.0, "number c in the length penalty ((c + tokens) / (c + 1)) ** exponent", least=0
    )
    early_stopping: str = _imported(
        "lookahead",
        "rule that ends the search of a sentence, as in `BeamSearch`",
        choices=("lookahead", "exact", "heuristic", "full"),
    )
    forced_eos: bool = _imported(
        False, "count the end mark of a translation of the greatest length as certain"
    )
    allow_unk: bool = _imported(False, "allow the unknown token in a translation")
    allow_empty: bool = _imported(False, "allow an empty translation of a source with tokens")
    min_length_ratio: float = _search(
        0.0, "shortest translation in tokens, as a share of the source", "SHARE", least=0
    )
    max_length_ratio: float = _search(
        2.0,
        "longest translation in tokens, as a share of the source",
        "SHARE",
        least=0,
        default_text="of 99.9% of the training pairs",
    )
    max_length_extra: int = _imported(
        10, "tokens added to the limit of --max-length-ratio, for short sources", least=0
    )
    no_repeat_ngram: int = _search(
        0,
        "never repeat an n-gram of this size in a translation; 0 allows it",
        "TOKENS",
        least=0,
        default_text="0; 4 for a large corpus",
    )
    serving_precision: str = _search(
        "float32",
        "precision of the exported model; bfloat16 is faster for batches on "
        "processors that have it, slower on others, and changes some translations",
        choices=PRECISIONS,
    )

    def validate(self) -> None:
        """Raise one `ValueError` that names every value that cannot be used."""
        found = faults(self)

        def are_allowed(*names: str) -> bool:
            return found.keys().isdisjoint(names)

        def refuse(allowed: str, *names: str) -> None:
            found[names[0]] = must_be(self, allowed, *names)

        if are_allowed("num_hiddens", "num_heads") and self.num_hiddens % self.num_heads:
            refuse("a multiple of `num_heads`", "num_hiddens", "num_heads")
        if are_allowed("num_heads", "num_kv_heads"):
            if self.num_kv_heads and self.num_heads % self.num_kv_heads:
                refuse("a multiple of `num_kv_heads`", "num_heads", "num_kv_heads")
        if are_allowed("batch_tokens", "max_length") and self.batch_tokens < 2 * self.max_length:
            allowed = "at least 2 * `max_length`, one pair of the greatest length"
            refuse(allowed, "batch_tokens", "max_length")
        if self.logits_bias is True and self.tie_embeddings is False:
            refuse("False without `tie_embeddings`", "logits_bias", "tie_embeddings")
        if self.share_embeddings is True and self.shared_vocab is False:
            refuse("False without `shared_vocab`", "share_embeddings", "shared_vocab")
        if are_allowed("min_length_ratio", "max_length_ratio"):
            if self.min_length_ratio > self.max_length_ratio:
                refuse("at most `max_length_ratio`", "min_length_ratio", "max_length_ratio")
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
        """Read a file that `save` wrote, also one of an older version of keras_attn.

        Fields that the file lacks take their defaults. Fields that are unknown here are left out,
        with a warning that names them.
        """
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
