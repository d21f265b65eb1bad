"""Weights of an imported Marian model by the paths of our models."""

from collections.abc import Iterator, Mapping

import numpy as np

from keras_attn.translation.importing.configuration import MarianConfig
from keras_attn.translation.named_weights import named
from keras_attn.translation.special_ids import BOS_ID, UNK_ID

# Logit bias of tokens that are never generated. Not infinite: a loss would be so too.
BANNED_BIAS = -100.0

# Names of the shared table in a file: transformers writes one of them.
_SHARED = (
    "model.shared.weight",
    "model.encoder.embed_tokens.weight",
    "model.decoder.embed_tokens.weight",
    "lm_head.weight",
)
# Parts of the names of a block's weights: of our models, of transformers, of Marian.
_ATTENTIONS = (
    ("self_attention", "self_attn", "self"),
    ("cross_attention", "encoder_attn", "context"),
)
_PROJECTIONS = (
    ("query", "q_proj", "q"),
    ("key", "k_proj", "k"),
    ("value", "v_proj", "v"),
    ("output", "out_proj", "o"),
)
_FEED_FORWARD = (("inner", "fc1", "1"), ("outer", "fc2", "2"))


def convert(
    weights: Mapping[str, np.ndarray],
    marian: MarianConfig,
    source_rows: np.ndarray,
    target_rows: np.ndarray,
) -> dict[str, np.ndarray]:
    """Weights by our paths; `source_rows` has the row of the embedding of each of our ids."""
    depths = marian["encoder_layers"], marian["decoder_layers"]
    names = {ours: theirs for ours, theirs, _ in names_in_blocks(*depths)}
    if not marian["tie_word_embeddings"]:
        names["decoder/logits/kernel"] = "lm_head.weight"
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
    no_bias = np.zeros(len(tables[1]), np.float32)
    bias = weights.get("final_logits_bias", no_bias).reshape(-1)[target_rows]
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
    sides: list[tuple[str, ...]] = [_SHARED, _SHARED]
    if not marian.is_shared:
        sides = [_SHARED[:2], _SHARED[2:] if marian["tie_word_embeddings"] else _SHARED[2:3]]
    found = [next((name for name in side if name in weights), None) for side in sides]
    tables = [weights[name] for name in found if name is not None]
    if len(tables) < len(sides):
        raise ValueError(f"The weights must have embeddings. Received: no {_SHARED[0]!r}.")
    return tables[0], tables[1]


def names_in_blocks(*depths: int) -> Iterator[tuple[str, str, str]]:
    """Name of each weight of the blocks: in our models, in transformers, and in Marian.

    `depths` are the numbers of encoder blocks and of decoder blocks.
    """
    for side, depth in zip(("encoder", "decoder"), depths, strict=True):
        for number in range(depth):
            ours, theirs = f"{side}/block_{number}", f"model.{side}.layers.{number}"
            marian = f"{side}_l{number + 1}"
            for attention, name, word in _ATTENTIONS[: 1 if side == "encoder" else 2]:
                for projection, part, letter in _PROJECTIONS:
                    yield from _dense(
                        f"{ours}/{attention}/{projection}",
                        f"{theirs}.{name}.{part}",
                        (f"{marian}_{word}", letter),
                    )
                yield from _norm(
                    f"{ours}/around_{attention}",
                    f"{theirs}.{name}_layer_norm",
                    f"{marian}_{word}_Wo",
                )
            for layer, part, digit in _FEED_FORWARD:
                yield from _dense(
                    f"{ours}/feed_forward/{layer}", f"{theirs}.{part}", (f"{marian}_ffn", digit)
                )
            around = f"{ours}/around_feed_forward"
            yield from _norm(around, f"{theirs}.final_layer_norm", f"{marian}_ffn_ffn")


def _dense(ours: str, theirs: str, marian: tuple[str, str]) -> Iterator[tuple[str, str, str]]:
    part, letter = marian
    yield f"{ours}/kernel", f"{theirs}.weight", f"{part}_W{letter}"
    yield f"{ours}/bias", f"{theirs}.bias", f"{part}_b{letter}"


def _norm(ours: str, theirs: str, marian: str) -> Iterator[tuple[str, str, str]]:
    yield f"{ours}/norm/gamma", f"{theirs}.weight", f"{marian}_ln_scale"
    yield f"{ours}/norm/beta", f"{theirs}.bias", f"{marian}_ln_bias"
