"""Weights that begin with what the corpus says: pieces that translate each other are close.

A short training learns words last. So it begins with a model that knows many: its logits are the
frequencies of the target pieces, and what the pieces of the source, on average, say about them
(benchmarks/results/learning.md).
"""

from collections.abc import Sequence

import numpy as np
from keras import ops

from keras_attn.layers.transformer import Transformer
from keras_attn.translation import named_weights
from keras_attn.translation.lexicon import MOST_CELLS, MOST_PIECES, draw
from keras_attn.translation.special_ids import EOS_ID

# Share of a vector, by its squared length, that the corpus says. The rest is random.
SHARE = 0.95
_ROUNDS = 3  # of the decomposition
# Last kernels of the sub-layers, which add nothing at first. Only the first attention to the source
# hands on what it reads, this many times because it reads all pieces alike at first.
_OUTPUTS = "attention/output/kernel", "feed_forward/outer/kernel"
_TIMES = 4.0


def apply(model: Transformer, sides: Sequence[Sequence[np.ndarray]], seed: int) -> None:
    """Set the first weights of a built model: embeddings and logits by the training pairs.

    `sides` are the source and the target ids of each pair, integers `(S,)` and `(T,)`, without EOS.
    `seed` draws the pairs that are counted, if there are many.
    """
    weights = named_weights.by_path(model.trainable_variables)
    tables = [weights.get(f"{side}/embedding/tokens/embeddings") for side in ("encoder", "decoder")]
    logits = weights.get("decoder/logits/kernel")
    sizes = [min(part.vocab_size, MOST_PIECES) for part in (model.encoder, model.decoder)]
    found = vectors(sides, sizes, model.encoder.num_hiddens, np.random.default_rng(seed))
    for table, new in zip(tables, found, strict=True):
        if table is not None:  # the decoder may use the table of the encoder
            table.assign(_mixed(ops.convert_to_numpy(table), new))
    if logits is not None:
        logits.assign(_mixed(ops.convert_to_numpy(logits).T, found[1]).T)
    if (bias := weights.get("decoder/logits/bias")) is not None:
        bias.assign(_frequencies(sides[1], bias.shape[0]))
    for path, weight in weights.items():
        if path.endswith(_OUTPUTS):
            weight.assign(np.zeros(weight.shape))
    first = "decoder/block_0/cross_attention"
    value, output = weights[f"{first}/value/kernel"], weights[f"{first}/output/kernel"]
    if value.shape == output.shape:  # else queries share keys and values
        value.assign(_TIMES * np.eye(*value.shape))
        output.assign(np.eye(*output.shape))


def vectors(
    sides: Sequence[Sequence[np.ndarray]],
    sizes: Sequence[int],
    width: int,
    random: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of the first source and target pieces, `(size, width)` each; 0 for those without.

    Products of both approximate the positive pointwise mutual information of two pieces in a pair
    of sentences (Levy and Goldberg 2014, section 5), by a randomized decomposition (Halko et al.
    2011, algorithm 4.4).
    """
    chosen = draw(sides, MOST_CELLS, random)
    rows, columns = (
        [_distinct(side[i], size) for i in chosen] for side, size in zip(sides, sizes, strict=True)
    )
    table = _information(rows, columns, sizes)
    basis = random.standard_normal((sizes[1], min(width, *sizes))).astype(np.float32)
    for _ in range(_ROUNDS):
        basis = np.linalg.qr(table.T @ np.linalg.qr(table @ basis)[0])[0]
    left, values, right = np.linalg.svd(table @ basis, full_matrices=False)
    scale = values**0.5
    more = [(0, 0), (0, width - len(values))]
    return np.pad(left * scale, more), np.pad((right @ basis.T).T * scale, more)


def _distinct(ids: np.ndarray, size: int) -> np.ndarray:
    ids = np.unique(ids).astype(np.int32)
    return ids[ids < size]


def _information(
    rows: Sequence[np.ndarray], columns: Sequence[np.ndarray], sizes: Sequence[int]
) -> np.ndarray:
    """Positive pointwise mutual information of pieces that are twice or more in one pair."""
    pairs = zip(rows, columns, strict=True)
    cells = np.concatenate([np.add.outer(x * sizes[1], y).ravel() for x, y in pairs])
    cells.sort()
    first = np.flatnonzero(np.diff(cells, prepend=-1))
    counts = np.diff(first, append=len(cells)).astype(np.float32)
    row, column = np.divmod(cells[first], sizes[1])
    of_row, of_column = (np.bincount(x, counts) for x in (row, column))
    information = np.log(counts * counts.sum() / (of_row[row] * of_column[column]))
    kept = (information > 0) & (counts > 1)
    table = np.zeros(sizes, np.float32)
    table[row[kept], column[kept]] = information[kept]
    return table


def _frequencies(targets: Sequence[np.ndarray], size: int) -> np.ndarray:
    """Logarithms of the frequencies of target pieces, `(size,)`, less their mean."""
    counts = np.bincount(np.concatenate(targets), minlength=size)
    counts[EOS_ID] = len(targets)
    found = np.log(counts + 1.0)
    return found - found.mean()


def _mixed(initial: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Initial vectors `(V, D)`, turned towards those that were found, of about the same length."""
    initial = initial.astype(np.float32)
    found = np.pad(found, [(0, len(initial) - len(found)), (0, 0)])
    length = np.linalg.norm(found, axis=1, keepdims=True)
    usual = np.linalg.norm(initial, axis=1).mean()
    turned = SHARE**0.5 * usual * found / np.maximum(length, 1e-6) + (1 - SHARE) ** 0.5 * initial
    return np.where(length > 1e-3, turned, initial)
