"""Weights of an imported Marian model by the paths of our models."""

from collections.abc import Iterator, Mapping
from operator import add

import numpy as np

from keras_attn.translation.importing.configuration import MarianConfig
from keras_attn.translation.named_weights import check_paths
from keras_attn.translation.special_ids import BOS_ID, UNK_ID

# Logit bias of tokens that are never generated. Not infinite: a loss would be so too.
BANNED_BIAS = -100.0

# Names of the shared table in a file: transformers writes one of them.
_SHARED: tuple[str, ...] = (
    "model.shared.weight",
    "model.encoder.embed_tokens.weight",
    "model.decoder.embed_tokens.weight",
    "lm_head.weight",
)
# Dense layers and normalisations of a block: in our models, in transformers, and in Marian, where
# braces stand for the letter of a kernel or a bias.
_DENSE = (
    ("self_attention/query", "self_attn.q_proj", "self_{}q"),
    ("self_attention/key", "self_attn.k_proj", "self_{}k"),
    ("self_attention/value", "self_attn.v_proj", "self_{}v"),
    ("self_attention/output", "self_attn.out_proj", "self_{}o"),
    ("cross_attention/query", "encoder_attn.q_proj", "context_{}q"),
    ("cross_attention/key", "encoder_attn.k_proj", "context_{}k"),
    ("cross_attention/value", "encoder_attn.v_proj", "context_{}v"),
    ("cross_attention/output", "encoder_attn.out_proj", "context_{}o"),
    ("feed_forward/inner", "fc1", "ffn_{}1"),
    ("feed_forward/outer", "fc2", "ffn_{}2"),
)
_NORMS = (
    ("around_self_attention/norm", "self_attn_layer_norm", "self_Wo_ln"),
    ("around_cross_attention/norm", "encoder_attn_layer_norm", "context_Wo_ln"),
    ("around_feed_forward/norm", "final_layer_norm", "ffn_ffn_ln"),
)


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
    wanted = set(names.values())
    check_paths("The weights", wanted, wanted & set(weights))
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
    source, target = _SHARED, _SHARED
    if not marian.is_shared:
        source, target = _SHARED[:2], _SHARED[2 : None if marian["tie_word_embeddings"] else 3]
    found = [[weights[name] for name in side if name in weights] for side in (source, target)]
    if not all(found):
        raise ValueError(f"The weights must have embeddings. Received: no {_SHARED[0]!r}.")
    return found[0][0], found[1][0]


def names_in_blocks(*depths: int) -> Iterator[tuple[str, str, str]]:
    """Name of each weight of the blocks: in our models, in transformers, and in Marian.

    `depths` are the numbers of encoder blocks and of decoder blocks.
    """
    for side, depth in zip(("encoder", "decoder"), depths, strict=True):
        for number in range(depth):
            transformers, marian = f"model.{side}.layers.{number}.", f"{side}_l{number + 1}_"
            starts = f"{side}/block_{number}/", transformers, marian
            for names in (*_DENSE, *_NORMS):
                ours, theirs, name = map(add, starts, names)
                if side == "encoder" and "cross_attention" in ours:
                    continue
                if names in _DENSE:
                    yield f"{ours}/kernel", f"{theirs}.weight", name.format("W")
                    yield f"{ours}/bias", f"{theirs}.bias", name.format("b")
                else:
                    yield f"{ours}/gamma", f"{theirs}.weight", f"{name}_scale"
                    yield f"{ours}/beta", f"{theirs}.bias", f"{name}_bias"
