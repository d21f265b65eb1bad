"""Pictures of the README and the API pages, drawn by the code that they show.

    python docs/building/pictures.py                        draw all of them into `docs/pictures/`

Each picture stores what it shows (titles, labels, numbers) in the metadata of its file.
`tests/docs/test_pictures.py` draws the figures again and compares them with it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import picture_files
from matplotlib.figure import Figure

import keras_attn
from keras_attn import plots

FOLDER = Path(__file__).parents[1] / "pictures"
# Answers of a trained translator, stored by `translator_results.py`.
TRANSLATOR = FOLDER.parents[1] / "keras_attn" / "plots" / "translator.json"


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    """Normally distributed numbers, the same on every backend."""
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def with_fixed_weights(layer: keras.layers.Layer, *inputs: Any, **options: Any) -> Any:
    """Output of a layer whose weights do not depend on the backend's random numbers."""
    layer(*inputs, **options)  # creates the weights
    fixed = []
    for index, weight in enumerate(layer.weights):
        is_matrix = len(weight.shape) > 1
        scale = 1.5 * np.prod(weight.shape[:-1]) ** -0.5 if is_matrix else 0
        of_vector = np.asarray(keras.ops.convert_to_numpy(weight))
        fixed.append(numbers(*weight.shape, seed=index) * scale if is_matrix else of_vector)
    layer.set_weights(fixed)
    return layer(*inputs, **options)


def _attention(layer: keras.layers.Layer, **options: Any) -> Figure:
    """Weights of 4 queries over 6 keys of width 8."""
    query, key = numbers(1, 4, 8), numbers(1, 6, 8, seed=1)
    _, weights = with_fixed_weights(layer, query, key, return_attention_scores=True, **options)
    return plots.plot_attention(weights)


def _self_attention(layer: keras.layers.Layer, length: int = 8, **options: Any) -> Figure:
    x = numbers(1, length, layer.num_hiddens)
    _, weights = with_fixed_weights(layer, x, x, return_attention_scores=True, **options)
    return plots.plot_attention(weights)


def _scheme(scheme: Any) -> Figure:
    """Weights of 24 identical tokens, so that all differences come from the positions."""
    tokens = np.tile(numbers(16), (1, 24, 1))
    layer = keras_attn.MultiHeadAttention(16, 2, position=scheme)
    _, weights = with_fixed_weights(layer, tokens, tokens, return_attention_scores=True)
    return plots.plot_attention(weights)


def _reach(apply: Callable[[np.ndarray], Any], length: int = 6, width: int = 8) -> Figure:
    """Heat map of the change of each output position after a change of one input position."""
    x = numbers(1, length, width)
    before = np.asarray(keras.ops.convert_to_numpy(apply(x)))[0]
    changes = np.zeros((length, length))
    for position in range(length):
        changed = x.copy()
        changed[0, position] += 0.1 * numbers(width, seed=9)
        after = np.asarray(keras.ops.convert_to_numpy(apply(changed)))[0]
        changes[:, position] = np.abs(after - before).max(-1)
    figure = Figure((4, 3.2), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(changes / changes.max(), "Reds", vmin=0, vmax=1)
    axes.set_xlabel("input position that changes")
    axes.set_ylabel("output position")
    figure.colorbar(image, ax=axes, label="change of the output")
    return figure


def masked_softmax() -> Figure:
    scores = np.tile(np.arange(1.0, 7.0), (1, 4, 1))
    weights = keras_attn.masked_softmax(scores, valid_lens=np.array([[6, 4, 2, 0]]))
    return plots.plot_attention(weights, [f"{n} valid" for n in (6, 4, 2, 0)])


def dot_product_attention() -> Figure:
    return _attention(keras_attn.DotProductAttention(), valid_lens=np.array([5]))


def bilinear_attention() -> Figure:
    return _attention(keras_attn.BilinearAttention(), valid_lens=np.array([5]))


def additive_attention() -> Figure:
    return _attention(keras_attn.AdditiveAttention(num_hiddens=8), valid_lens=np.array([5]))


def gaussian_kernel_attention() -> Figure:
    places = np.linspace(0, 1, 20)[None, :, None]
    layer = keras_attn.GaussianKernelAttention(bandwidth=0.1)
    _, weights = layer(places[:, ::2], places, return_attention_scores=True)
    return plots.plot_attention(weights)


def multi_head_attention() -> Figure:
    return _self_attention(keras_attn.MultiHeadAttention(16, 4), use_causal_mask=True)


def positional_encoding() -> Figure:
    return plots.plot_encoding(keras_attn.PositionalEncoding()(np.zeros((1, 60, 32)))[0])


def learned_positional_encoding() -> Figure:
    layer = keras_attn.LearnedPositionalEncoding(max_len=20)
    return plots.plot_encoding(with_fixed_weights(layer, np.zeros((1, 20, 16)))[0])


def shaw_relative_position() -> Figure:
    return _scheme(keras_attn.ShawRelativePosition(max_distance=4))


def t5_relative_bias() -> Figure:
    return _scheme(keras_attn.T5RelativeBias(num_buckets=16, max_distance=32))


def alibi_bias() -> Figure:
    return _scheme(keras_attn.AlibiBias())


def rotary_embedding() -> Figure:
    return _scheme(keras_attn.RotaryEmbedding())


def feed_forward() -> Figure:
    layer = keras_attn.FeedForward(ffn_num_hiddens=16)
    with_fixed_weights(layer, numbers(1, 6, 8))
    return _reach(layer)


def token_embedding() -> Figure:
    layer = keras_attn.TokenEmbedding(vocab_size=10, num_hiddens=16)
    return plots.plot_encoding(with_fixed_weights(layer, np.array([[7, 7, 7, 3, 3, 3]]))[0])


def residual() -> Figure:
    layer = keras_attn.Residual()
    attention = keras_attn.DotProductAttention()
    return _reach(lambda x: layer(x, sublayer=lambda y: attention(y, y)))


def _weights_of(layer: keras.layers.Layer, *inputs: Any) -> Figure:
    _, weights = with_fixed_weights(layer, *inputs, return_attention_scores=True)
    return plots.plot_attention(weights)


def encoder_block() -> Figure:
    return _weights_of(keras_attn.EncoderBlock(16, 32, 4), numbers(1, 8, 16))


def decoder_block() -> Figure:
    layer = keras_attn.DecoderBlock(16, 32, 4)
    return _weights_of(layer, numbers(1, 6, 16), numbers(1, 8, 16, seed=1))


SOURCE, TARGET = np.array([[7, 12, 9, 3, 0, 0]]), np.array([[2, 21, 8, 5]])


def encoder() -> Figure:
    return _weights_of(keras_attn.Encoder(50, 2, 16, 32, 4), SOURCE)


def decoder() -> Figure:
    layer = keras_attn.Decoder(50, 2, 16, 32, 4, cross_attention=False)
    return _weights_of(layer, TARGET)


def transformer() -> Figure:
    return _weights_of(keras_attn.Transformer.from_sizes(50, 50, 1, 1, 16, 32, 4), (SOURCE, TARGET))


def positions_as_curves() -> Figure:
    encoding = keras_attn.PositionalEncoding()(np.zeros((1, 60, 32)))[0]
    return plots.plot_encoding_curves(encoding, range(6, 10))


def positions_similarity() -> Figure:
    return plots.plot_position_similarity(keras_attn.PositionalEncoding()(np.zeros((1, 60, 32)))[0])


def positions_in_binary() -> Figure:
    return plots.plot_binary_counting(3)


def translation() -> Figure:
    stored = _stored_attention()
    mean = np.array(stored["weights"]).mean(axis=(0, 1))  # of layers and heads
    return _of_translation(stored, mean)


def translation_heads() -> Figure:
    stored = _stored_attention()
    return _of_translation(stored, np.array(stored["weights"])[0])


def _of_translation(stored: dict[str, Any], weights: np.ndarray) -> Figure:
    pieces = stored["target_pieces"], stored["source_pieces"]
    return plots.plot_attention(weights, *pieces, mask=np.array([True]))  # rounded, not masked


def _stored_attention() -> dict[str, Any]:
    return json.loads(TRANSLATOR.read_text(encoding="utf-8"))["attention"]


PICTURES: dict[str, Callable[[], Figure]] = {
    draw.__name__: draw
    for draw in (
        masked_softmax,
        dot_product_attention,
        bilinear_attention,
        additive_attention,
        gaussian_kernel_attention,
        multi_head_attention,
        positional_encoding,
        learned_positional_encoding,
        shaw_relative_position,
        t5_relative_bias,
        alibi_bias,
        rotary_embedding,
        feed_forward,
        token_embedding,
        residual,
        encoder_block,
        decoder_block,
        encoder,
        decoder,
        transformer,
        positions_as_curves,
        positions_similarity,
        positions_in_binary,
        translation,
        translation_heads,
    )
}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        picture_files.save(draw(), FOLDER / f"{name}.png")
        print(name)


if __name__ == "__main__":
    main()
