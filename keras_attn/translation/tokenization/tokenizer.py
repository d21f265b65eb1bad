"""SentencePiece tokenizers: trained on the training split, saved beside the model."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sentencepiece

from keras_attn.translation.config import Config
from keras_attn.translation.corpus.cleaning import Pair
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID, UNK_ID
from keras_attn.translation.tokenization.model_proto import ModelProto

# Byte fallback needs a piece for each byte value, beside the special ones and the characters.
MIN_VOCAB_SIZE = 256 + 4 + 1

# Share of the characters of the text that get a piece; the rare others are spelt in bytes. A few
# thousand kanji occur once or twice, an alphabet does not have such a tail.
_COVERAGE = {"ja": 0.9995, "zh": 0.9995}
_FULL_COVERAGE = 1.0

# More sentences than this make training slow and the vocabulary hardly better.
MAX_SENTENCES = 1_000_000
_MAX_SENTENCE_BYTES = 1 << 20

# Of a unigram model sampling draws from so many ways to cut a text. Drawing among all of them is
# the package's, too, but not the same in another process; twice as many take ten times as long.
NUM_WAYS = 8

# Fixed, because sums in another order give other pieces.
_NUM_THREADS = 4


class Tokenizer:
    """Text to piece ids and back.

    Args:
        proto: A SentencePiece model whose special ids are `PAD_ID` to `EOS_ID`.

    Raises:
        ValueError: If `proto` is not such a model.

    Example:

    >>> tokenizer = train(["the cat", "the dog"], vocab_size=300, character_coverage=1.0)
    >>> tokenizer.decode(tokenizer.encode(["the cat"]))
    ['the cat']
    """

    def __init__(self, proto: bytes):
        try:
            # Without text sentencepiece makes an empty processor instead of failing.
            if not proto:
                raise RuntimeError("it is empty")
            self._processor = sentencepiece.SentencePieceProcessor(model_proto=proto)
        except RuntimeError as error:
            raise ValueError("`proto` must be a SentencePiece model but cannot be read.") from error
        ids = tuple(
            getattr(self._processor, name)() for name in ("pad_id", "unk_id", "bos_id", "eos_id")
        )
        if ids != (PAD_ID, UNK_ID, BOS_ID, EOS_ID):
            raise ValueError(
                "`proto` must have the special ids (pad, unk, bos, eos) = "
                f"{(PAD_ID, UNK_ID, BOS_ID, EOS_ID)}. Received: {ids}. Train it with "
                "`keras_attn.translation.tokenization.tokenizer.train`."
            )
        self.proto = proto
        self._graph: Any = None  # made when it is asked to sample

    @property
    def vocab_size(self) -> int:
        """Number of pieces, the special ones included."""
        return self._processor.vocab_size()

    @property
    def pieces(self) -> list[str]:
        """All pieces, by their ids."""
        return self._processor.id_to_piece(list(range(self.vocab_size)))

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Piece ids of each text, without begin and end."""
        return self._processor.encode(list(texts))

    def sample(self, texts: Sequence[str], alpha: float, seed: int) -> list[list[int]]:
        """Piece ids of each text, one of the ways to cut it, drawn at random.

        Of a unigram model one of the `NUM_WAYS` likeliest ways, that of probability `p` in
        proportion to `p ** alpha`, so a smaller `alpha` cuts more evenly among them (Kudo 2018,
        section 3.2). Of a BPE model each merge is left out with probability `alpha` (Provilkov et
        al. 2020, section 3).

        Args:
            texts: The texts.
            alpha: Above 0, at most 1.
            seed: The same seed draws the same ways for the same texts; from 0 to 2**32 - 1.
        """
        if self._is_unigram:
            return self._one_of_the_likeliest(texts, alpha, np.random.default_rng(seed))
        # Imported here: what else a tokenizer does needs no TensorFlow.
        import tensorflow as tf

        from keras_attn.translation.tokenization.in_graph import NUM_TEXTS, GraphTokenizer

        if self._graph is None:
            self._graph = GraphTokenizer(self.proto)
        found: list[list[int]] = []
        seeds = np.random.SeedSequence(seed)
        for start in range(0, len(texts), NUM_TEXTS[-1]):
            some = tf.constant(texts[start : start + NUM_TEXTS[-1]])
            own_seed = tf.constant(seeds.spawn(1)[0].generate_state(1).view(np.int32)[0])
            found += self._graph.sample(some, tf.constant(alpha), own_seed).to_list()
        return found

    def _one_of_the_likeliest(
        self, texts: Sequence[str], alpha: float, random: np.random.Generator
    ) -> list[list[int]]:
        found = []
        for text in texts:
            ways = self._processor.nbest_encode_as_ids(text, NUM_WAYS) or [[]]
            scores = [self._scores[way].sum() for way in ways]
            # The largest with Gumbel noise added is a draw in proportion to their exponentials.
            noise = random.gumbel(size=len(ways))
            found.append(ways[np.argmax(alpha * np.array(scores) + noise)])
        return found

    @cached_property
    def _is_unigram(self) -> bool:
        kind = ModelProto.FromString(self.proto).trainer_spec.model_type
        return kind == ModelProto().trainer_spec.UNIGRAM

    @cached_property
    def _scores(self) -> np.ndarray:
        """Log probabilities of the pieces of a unigram model."""
        return np.array([self._processor.get_score(i) for i in range(self.vocab_size)])

    def decode(self, ids: Sequence[Sequence[int]]) -> list[str]:
        """The text of each sequence of ids; special ids say nothing."""
        return [self._processor.decode([int(i) for i in sequence]) for sequence in ids]

    def save(self, path: Path) -> None:
        """Write the model aside, then rename it: a file at `path` is always whole."""
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(f".{path.name}.{os.getpid()}")
        aside.write_bytes(self.proto)
        os.replace(aside, path)

    @classmethod
    def load(cls, path: Path) -> Tokenizer:
        """Read what `save` wrote."""
        if not path.is_file():
            raise ValueError(f"There is no tokenizer at `{path}`.")
        try:
            return cls(path.read_bytes())
        except ValueError as error:
            raise ValueError(f"The tokenizer at `{path}` cannot be used: {error}") from error


class Tokenizers(NamedTuple):
    """One for each side."""

    source: Tokenizer
    target: Tokenizer


def character_coverage(language: str) -> float:
    """The share of characters that get a piece of their own in this language."""
    return _COVERAGE.get(language.lower()[:2], _FULL_COVERAGE)


def train(
    sentences: Iterable[str],
    vocab_size: int,
    character_coverage: float,
    model_type: str = "unigram",
) -> Tokenizer:
    """A model with byte fallback; the same sentences give the same model.

    Args:
        sentences: Text to learn the pieces from; of more than `MAX_SENTENCES`, every n-th.
        vocab_size: Pieces at most, the special ones and 256 bytes included; text that does not
            offer so many gives fewer.
        character_coverage: Share of the characters that get a piece, above 0.98, at most 1.
        model_type: `"unigram"` (Kudo 2018) or `"bpe"` (Sennrich et al. 2016). Defaults to
            `"unigram"`.

    Raises:
        ValueError: If there is no text or `vocab_size` is too small for its characters.
    """
    texts = [text for text in sentences if text.strip()]
    if not texts:
        raise ValueError("A tokenizer must be trained on text. Received: no text at all.")
    if vocab_size < MIN_VOCAB_SIZE:
        raise ValueError(
            f"`vocab_size` must be at least {MIN_VOCAB_SIZE}: 4 special pieces, one for each of "
            f"256 bytes, and characters. Received: vocab_size={vocab_size}."
        )
    step = -(-len(texts) // MAX_SENTENCES)
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts[::step]),
            model_writer=model,
            model_type=model_type,
            vocab_size=vocab_size,
            # A small corpus may not offer `vocab_size` pieces.
            hard_vocab_limit=False,
            character_coverage=character_coverage,
            byte_fallback=True,
            pad_id=PAD_ID,
            unk_id=UNK_ID,
            bos_id=BOS_ID,
            eos_id=EOS_ID,
            max_sentence_length=_MAX_SENTENCE_BYTES,
            num_threads=_NUM_THREADS,
            minloglevel=2,
        )
    except RuntimeError as error:
        reason = str(error)
        if "smaller than required_chars" in reason:
            needed = reason.split(" vs ")[1].split(".")[0]
            raise ValueError(
                f"`vocab_size` must be at least {needed} for the characters of this text. "
                f"Received: vocab_size={vocab_size}."
            ) from error
        raise ValueError(
            f"SentencePiece cannot train on this text. Received: {len(texts):,} sentences, "
            f"vocab_size={vocab_size}, character_coverage={character_coverage} ({reason})."
        ) from error
    return Tokenizer(model.getvalue())


def load_or_train(folder: Path, pairs: Sequence[Pair], config: Config) -> Tokenizers:
    """The tokenizers in `folder`, trained on the pairs and saved there if they are not there yet.

    Args:
        folder: Holds `source.model` and `target.model`.
        pairs: The training split, and nothing of the others.
        config: Languages, kind and size; whether one tokenizer serves both sides.
    """
    languages = (config.source, config.target)
    coverages = [character_coverage(language) for language in languages]
    paths = [folder / f"{name}.model" for name in Tokenizers._fields]
    for side, path in enumerate(paths):
        if path.exists():
            continue
        if config.shared_vocab and side:
            Tokenizer.load(paths[0]).save(path)
        else:
            sides = (0, 1) if config.shared_vocab else (side,)
            texts = (pair[i] for pair in pairs for i in sides)
            coverage = min(coverages[i] for i in sides)
            train(texts, config.vocab_size, coverage, config.tokenizer).save(path)
    return Tokenizers(*map(Tokenizer.load, paths))
