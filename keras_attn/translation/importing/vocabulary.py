"""Tokenizers of an imported model: SentencePiece models with the ids of its vocabulary."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID, UNK_ID
from keras_attn.translation.tokenization.tokenizer import ModelProto, Tokenizer


class SpecialTokens(NamedTuple):
    """Names of the special tokens in the vocabulary of the imported model."""

    pad: str
    unknown: str
    end: str


class Vocabulary(NamedTuple):
    """Tokenizer of one language, and the row of the imported weights of each of its ids."""

    tokenizer: Tokenizer
    rows: np.ndarray


def convert(
    proto: bytes, vocabulary: Mapping[str, int], special: SpecialTokens, name: str
) -> Vocabulary:
    """SentencePiece model whose ids are those of our models and whose pieces are a vocabulary's.

    Our special ids come first, then all other tokens in the order of their ids. Tokens that this
    SentencePiece model lacks are unused pieces. Pieces that the vocabulary lacks come last, without
    an id (`Tokenizer`). `name` is the file of `vocabulary`.
    """
    model = _unigram(proto, name)
    _check(vocabulary, special, name)
    scores = {p.piece: p.score for p in model.pieces if p.type == p.NORMAL}
    others = [one for one in sorted(vocabulary, key=vocabulary.__getitem__) if one not in special]
    start = "<s>"
    while start in vocabulary or start in scores:
        start = f"<{start}>"
    tokens = [special.pad, special.unknown, start, special.end, *others]
    kinds = model.pieces[0]
    pieces = [ModelProto.SentencePiece(piece=token, type=kinds.CONTROL) for token in tokens]
    pieces[UNK_ID].type = kinds.UNKNOWN
    for piece in pieces[EOS_ID + 1 :]:
        piece.type = kinds.NORMAL if piece.piece in scores else kinds.UNUSED
        piece.score = scores.get(piece.piece, 0.0)
    pieces += [
        ModelProto.SentencePiece(piece=token, type=kinds.NORMAL, score=score)
        for token, score in scores.items()
        if token not in vocabulary
    ]
    del model.pieces[:]
    model.pieces.extend(pieces)
    spec = model.trainer_spec
    spec.vocab_size = len(tokens)
    spec.pad_id, spec.unk_id, spec.bos_id, spec.eos_id = PAD_ID, UNK_ID, BOS_ID, EOS_ID
    spec.pad_piece, spec.unk_piece, spec.bos_piece, spec.eos_piece = tokens[: EOS_ID + 1]
    spec.unk_surface = ""
    # The decoder of the imported model starts with the padding token: padding is masked, but the
    # start is attended to.
    names = [special.pad, special.unknown, special.pad, special.end, *others]
    rows = np.array([vocabulary[token] for token in names])
    return Vocabulary(Tokenizer(model.SerializeToString()), rows)


def _unigram(proto: bytes, name: str) -> Any:
    """The parsed SentencePiece model that belongs to the vocabulary `name`."""
    try:
        model = ModelProto.FromString(proto)
    except Exception as error:  # protobuf raises a type that depends on its implementation
        raise ValueError("The SentencePiece models cannot be read; a file is cut off.") from error
    spec = model.trainer_spec
    kinds = {piece.type for piece in model.pieces}
    wrong = {
        "no pieces": not model.pieces,
        f"model_type={spec.model_type}": spec.model_type != spec.UNIGRAM,
        "byte_fallback=True": spec.byte_fallback,
        "user-defined pieces": bool(model.pieces) and model.pieces[0].USER_DEFINED in kinds,
    }
    found = [what for what, is_wrong in wrong.items() if is_wrong]
    if found:
        raise ValueError(
            f"The SentencePiece model of `{name}` must be a unigram model without byte fallback "
            f"and without user-defined pieces. Received: {', '.join(found)}."
        )
    return model


def _check(vocabulary: Mapping[str, int], special: SpecialTokens, name: str) -> None:
    missing = [token for token in special if token not in vocabulary]
    if missing:
        raise ValueError(
            f"`{name}` must have the special tokens of the model. Received: no "
            f"{', '.join(missing)}."
        )
    ids = sorted(vocabulary.values())
    if ids != list(range(len(ids))):
        raise ValueError(
            f"`{name}` must give each token an id of its own, from 0 on. Received: "
            f"{len(set(ids))} ids from {ids[0]} to {ids[-1]} for {len(ids)} tokens."
        )
