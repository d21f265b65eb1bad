"""SentencePiece tokenizers: training on the training split, saving, loading, sampling."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from keras_attn.languages import read_language
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.pairs import Pair
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID, PLACEHOLDER_IDS, UNK_ID
from keras_attn.translation.text.characters import unify
from keras_attn.translation.text.placeholders import PLACEHOLDERS
from keras_attn.translation.tokenization import language_tokens

# Protocol buffer of a model. The class is generated at import time, so mypy does not know it.
ModelProto = sentencepiece_model_pb2.ModelProto  # type: ignore[attr-defined]

_SPECIAL_IDS: dict = {"pad_id": PAD_ID, "unk_id": UNK_ID, "bos_id": BOS_ID, "eos_id": EOS_ID}

# Limit on the sentences used for training: 290,000 Japanese ones take half a minute, and 100,000 of
# them make only 0.9% more tokens.
MAX_SENTENCES = 200_000
# Number of likeliest segmentations from which `sample` draws. The package can sample from all
# segmentations, but not reproducibly across processes. Twice this number is ten times slower.
NUM_BEST = 8


class Tokenizer:
    """SentencePiece tokenizer: text to piece ids and back.

    A model that `train` made has byte fallback. An imported model has none
    (`importing/vocabulary.py`). It reads text as given, without `unify`, after a language token
    (`language_tokens`). Its ids are those of the names of the pieces: characters in a row without a
    piece are one piece, which the other language of the model may have. It is unknown otherwise, as
    are pieces from `trainer_spec.vocab_size` on.

    `proto` is a serialized SentencePiece model with the special ids of `special_ids.py`.

    >>> tokenizer = train(["the cat", "the dog"], vocab_size=300, character_coverage=1.0)
    >>> tokenizer.decode(tokenizer.encode(["the cat"]))
    ['the cat']
    """

    def __init__(self, proto: bytes):
        try:
            # For empty bytes, sentencepiece makes an empty processor instead of raising.
            if not proto:
                raise RuntimeError("it is empty")
            self._processor = sentencepiece.SentencePieceProcessor(model_proto=proto)
        except RuntimeError as error:
            raise ValueError("`proto` must be a SentencePiece model but cannot be read.") from error
        ids = {name: getattr(self._processor, name)() for name in _SPECIAL_IDS}
        if ids != _SPECIAL_IDS:
            raise ValueError(
                f"`proto` must have the special ids {_SPECIAL_IDS}. Received: {ids}. Train it with "
                "`keras_attn.translation.tokenization.tokenizer.train`."
            )
        self.proto = proto
        spec = ModelProto.FromString(proto).trainer_spec
        self.is_imported = not spec.byte_fallback
        self.vocab_size = min(self._processor.vocab_size(), spec.vocab_size)

    def __reduce__(self) -> tuple:
        return Tokenizer, (self.proto,)

    @property
    def pieces(self) -> list[str]:
        """All pieces in the order of their ids."""
        return self._processor.id_to_piece(list(range(self.vocab_size)))

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Piece ids of each text, without BOS and EOS."""
        if not self.is_imported:
            return self._processor.encode([unify(text) for text in texts])
        ids = []
        for token, text in map(language_tokens.split, texts):
            pieces = [token, *self._processor.encode(text, out_type=str)]
            ids.append([self._ids.get(piece, UNK_ID) for piece in pieces if piece])
        return ids

    def sample(self, texts: Sequence[str], alpha: float, seed: int) -> list[list[int]]:
        """Piece ids of a random segmentation of each text (subword regularization).

        One of the `NUM_BEST` likeliest segmentations is drawn with probability proportional to
        `p ** alpha`, where `p` is the probability of the segmentation (Kudo 2018, section 3.2).
        `alpha` is above 0, at most 1. The same seed and texts give the same ids.
        """
        random = np.random.default_rng(seed)
        ids = []
        for text in texts:
            token, text = language_tokens.split(text) if self.is_imported else ("", unify(text))
            best = self._processor.nbest_encode_as_ids(text, NUM_BEST) or [[]]
            scores = [self._scores[pieces].sum() for pieces in best]
            # Gumbel-max trick: a sample with probabilities proportional to `exp(alpha * score)`.
            noise = random.gumbel(size=len(best))
            drawn = best[np.argmax(alpha * np.array(scores) + noise)]
            before = [self._ids.get(token, UNK_ID)] if token else []
            ids.append([*before, *(i if i < self.vocab_size else UNK_ID for i in drawn)])
        return ids

    @cached_property
    def _ids(self) -> dict[str, int]:
        """Ids of pieces by name, without special pieces."""
        return {piece: i for i, piece in enumerate(self.pieces) if i > EOS_ID}

    @cached_property
    def _scores(self) -> np.ndarray:
        """Log probabilities of the pieces."""
        return np.array(self._processor.get_score(list(range(self._processor.vocab_size()))))

    def decode(self, ids: Sequence[Sequence[int]]) -> list[str]:
        """Text of each sequence of ids; control ids (padding, BOS, EOS) are skipped."""
        texts = [self._processor.decode([int(i) for i in sequence]) for sequence in ids]
        # Pieces of the other language keep a space at the beginning.
        return [text.strip() for text in texts] if self.is_imported else texts

    def save(self, path: Path) -> None:
        """Write the model to a temporary file and rename it, so that `path` is never incomplete."""
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(f".{path.name}.{os.getpid()}")
        aside.write_bytes(self.proto)
        os.replace(aside, path)

    @classmethod
    def load(cls, path: Path) -> Tokenizer:
        """Load a tokenizer that `save` wrote; `ValueError` if there is none that can be used."""
        if not path.is_file():
            raise ValueError(f"There is no tokenizer at `{path}`.")
        try:
            return cls(path.read_bytes())
        except ValueError as error:
            raise ValueError(f"The tokenizer at `{path}` cannot be used: {error}") from error


class Tokenizers(NamedTuple):
    """Source tokenizer and target tokenizer."""

    source: Tokenizer
    target: Tokenizer


def train(sentences: Iterable[str], vocab_size: int, character_coverage: float) -> Tokenizer:
    """Train a unigram tokenizer (Kudo 2018) with byte fallback; equal sentences give equal ones.

    With more than `MAX_SENTENCES` sentences, every n-th is used. A small text may give fewer pieces
    than `vocab_size`. `character_coverage` is the share of the characters that get a piece, above
    0.98, at most 1. `ValueError` without text, or if `vocab_size` is too small for its characters.
    """
    texts = [text for text in map(unify, sentences) if text.strip()]
    if not texts:
        raise ValueError("A tokenizer must be trained on text. Received: no text at all.")
    step = -(-len(texts) // MAX_SENTENCES)
    model = io.BytesIO()
    try:
        # From a file: for the sentences of an iterator, the native code would wait for Python.
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "sentences"
            file.write_text("\n".join(texts[::step]), encoding="utf-8", newline="\n")
            sentencepiece.SentencePieceTrainer.train(
                input=str(file),
                model_writer=model,
                model_type="unigram",
                vocab_size=vocab_size,
                # A small corpus may not offer `vocab_size` pieces.
                hard_vocab_limit=False,
                character_coverage=character_coverage,
                byte_fallback=True,
                split_digits=True,  # a number is read digit by digit, and no digit is left out
                required_chars="".join(PLACEHOLDERS),
                **_SPECIAL_IDS,
                max_sentence_length=1 << 20,  # bytes
                num_threads=4,  # for reproducibility: the order of floating-point sums counts
                minloglevel=2,
            )
    except RuntimeError as error:
        fault = "SentencePiece cannot train on this text."
        if "smaller than required_chars" in (reason := str(error)):
            needed = reason.split(" vs ")[1].split(".")[0]
            fault = f"`vocab_size` must be at least {needed} for the characters of this text."
        raise ValueError(
            f"{fault} Received: {len(texts):,} sentences, vocab_size={vocab_size}, "
            f"character_coverage={character_coverage} ({reason})."
        ) from error
    return Tokenizer(_with_placeholders_first(model.getvalue()))


def _with_placeholders_first(proto: bytes) -> bytes:
    """Move the placeholders of a SentencePiece model to the ids `PLACEHOLDER_IDS`."""
    model = ModelProto.FromString(proto)
    pieces = [piece for piece in model.pieces if piece.piece not in PLACEHOLDERS]
    ours = {piece.piece: piece for piece in model.pieces}
    pieces[PLACEHOLDER_IDS[0] : PLACEHOLDER_IDS[0]] = [ours[one] for one in PLACEHOLDERS]
    del model.pieces[:]
    model.pieces.extend(pieces)
    model.trainer_spec.ClearField("input")  # a temporary file
    return model.SerializeToString()


def load_or_train(folder: Path, pairs: Sequence[Pair], config: Config) -> Tokenizers:
    """Load `source.model` and `target.model` of a folder; train and save those that are missing."""
    coverages = [read_language(code).coverage for code in (config.source, config.target)]
    paths = [folder / f"{name}.model" for name in Tokenizers._fields]

    def make(side: int) -> None:
        if paths[side].exists():
            return
        sides = (0, 1) if config.shared_vocab else (side,)
        texts = (pair[i] for pair in pairs for i in sides)
        coverage = min(coverages[i] for i in sides)
        train(texts, config.vocab_size, coverage).save(paths[side])

    if config.shared_vocab:
        make(0)
        if not paths[1].exists():
            Tokenizer.load(paths[0]).save(paths[1])
    else:
        with ThreadPoolExecutor(2) as beside_each_other:  # the native code leaves Python free
            list(beside_each_other.map(make, (0, 1)))
    return Tokenizers(*map(Tokenizer.load, paths))
