"""Weights of an imported Marian model by the paths of our models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from keras_attn.translation.importing.configuration import MarianConfig
from keras_attn.translation.named_weights import named
from keras_attn.translation.special_ids import BOS_ID, UNK_ID

# Names of the shared table in a file: transformers writes one of them.
_SHARED = (
    "model.shared.weight",
    "model.encoder.embed_tokens.weight",
    "model.decoder.embed_tokens.weight",
    "lm_head.weight",
)
_BIAS = "final_logits_bias"
_POSITIONS = tuple(f"model.{side}.embed_positions.weight" for side in ("encoder", "decoder"))
_PROJECTIONS = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "output": "out_proj"}
# Sub-layers of a block with their attention and normalisation in transformers.
_ATTENTION = {"self_attention": "self_attn", "cross_attention": "encoder_attn"}

# Logit bias of tokens that are never generated. Not infinite: a loss would be so too.
BANNED_BIAS = -100.0


def convert(
    weights: Mapping[str, np.ndarray],
    marian: MarianConfig,
    source_rows: np.ndarray,
    target_rows: np.ndarray,
) -> dict[str, np.ndarray]:
    """Weights of our model, by path.

    Args:
        weights: Weights by their names in transformers.
        marian: Configuration of the model.
        source_rows: Row of the source embedding of each of our source ids.
        target_rows: Row of the target embedding of each of our target ids.

    Raises:
        ValueError: If a weight is missing, or the vocabulary does not fit.
    """
    names = dict(_names_of_blocks(marian))
    tables = _tables(weights, marian)
    missing = sorted(set(names.values()) - set(weights))
    if missing:
        raise ValueError(
            f"The weights must be those of `config.json`. Received: no {named(missing)}."
        )
    for table, rows in ((tables[0], source_rows), (tables[1], target_rows)):
        if len(table) != len(set(rows)):
            raise ValueError(
                "The vocabulary must have a token for each row of the embeddings. "
                f"Received: {len(set(rows))} tokens for {len(table)} rows."
            )
    ours = {
        path: weights[name].T if path.endswith("kernel") else weights[name]
        for path, name in names.items()
    }
    bias = weights.get(_BIAS, np.zeros(len(tables[1]), np.float32)).reshape(-1)[target_rows].copy()
    bias[BOS_ID] = BANNED_BIAS  # the imported model has no such token
    # The search skips padding and the unknown token without renormalising the probabilities.
    is_skipped = np.arange(len(bias)) <= UNK_ID
    is_banned = np.isin(target_rows, marian.banned_ids)
    bias[is_banned & (bool(marian["renormalize_logits"]) | ~is_skipped)] = BANNED_BIAS
    ours["encoder/embedding/tokens/embeddings"] = tables[0][source_rows]
    if not marian.is_shared:
        ours["decoder/embedding/tokens/embeddings"] = tables[1][target_rows]
    if marian["tie_word_embeddings"]:
        ours["decoder/logits_bias"] = bias
    else:
        ours["decoder/logits/kernel"] = weights["lm_head.weight"][target_rows].T
        ours["decoder/logits/bias"] = bias
    return ours


def _tables(
    weights: Mapping[str, np.ndarray], marian: MarianConfig
) -> tuple[np.ndarray, np.ndarray]:
    """Embeddings of source and target."""
    if marian.is_shared:
        sides: Sequence[tuple[str, ...]] = (_SHARED, _SHARED)
    else:
        tied = _SHARED[2:] if marian["tie_word_embeddings"] else _SHARED[2:3]
        sides = (_SHARED[:2], tied)
    found = [next((name for name in side if name in weights), None) for side in sides]
    tables = [weights[name] for name in found if name is not None]
    if len(tables) < len(sides):
        raise ValueError(f"The weights must have embeddings. Received: no {_SHARED[0]!r}.")
    return tables[0], tables[1]


def _names_of_blocks(marian: MarianConfig) -> Iterator[tuple[str, str]]:
    """Our path and the name in transformers of each weight of the blocks."""
    for side in ("encoder", "decoder"):
        attentions = list(_ATTENTION.items())[: 1 if side == "encoder" else 2]
        for number in range(marian[f"{side}_layers"]):
            ours, theirs = f"{side}/block_{number}", f"model.{side}.layers.{number}"
            for attention, name in attentions:
                for projection, part in _PROJECTIONS.items():
                    yield from _dense(f"{ours}/{attention}/{projection}", f"{theirs}.{name}.{part}")
                yield from _norm(f"{ours}/around_{attention}", f"{theirs}.{name}_layer_norm")
            for layer, part in (("inner", "fc1"), ("outer", "fc2")):
                yield from _dense(f"{ours}/feed_forward/{layer}", f"{theirs}.{part}")
            yield from _norm(f"{ours}/around_feed_forward", f"{theirs}.final_layer_norm")
    if not marian["tie_word_embeddings"]:
        yield "decoder/logits/kernel", "lm_head.weight"


def _dense(ours: str, theirs: str) -> Iterator[tuple[str, str]]:
    yield f"{ours}/kernel", f"{theirs}.weight"
    yield f"{ours}/bias", f"{theirs}.bias"


def _norm(ours: str, theirs: str) -> Iterator[tuple[str, str]]:
    yield f"{ours}/norm/gamma", f"{theirs}.weight"
    yield f"{ours}/norm/beta", f"{theirs}.bias"
