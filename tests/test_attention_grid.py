import io
import warnings

import numpy as np
import pytest
from keras import ops

from keras_attn import Encoder
from keras_attn.plots import plot_attention

H, T, S = 3, 5, 7
WORDS = ["▁The", "▁cat", "▁ate", "$5", r"$\frac{$"]
PIECES = ["▁猫", "が", "髙い", "ｻｶﾅ", "食べた", "。", "</s>"]


def weights(*shape, seed=0):
    powers = np.exp(np.random.default_rng(seed).normal(size=shape))
    return powers / powers.sum(-1, keepdims=True)


def heat_maps(figure):
    return [axes for axes in figure.axes if axes.images]


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def shown(figure):
    return [np.asarray(axes.images[0].get_array()) for axes in heat_maps(figure)]


def picture(figure):
    """The figure as it is drawn; what matplotlib warns of is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.savefig(io.BytesIO(), format="png")


def test_one_heat_map_shows_the_weights_with_queries_down_and_keys_across():
    w = weights(T, S)
    figure = plot_attention(w, WORDS, PIECES)
    (axes,) = heat_maps(figure)
    np.testing.assert_array_equal(shown(figure)[0], w)
    assert ticks(axes.yaxis) == WORDS
    assert ticks(axes.xaxis) == PIECES
    corners = axes.transData.transform([(0, 0), (S - 1, T - 1)])
    assert corners[0, 1] > corners[1, 1]  # the first query is on top
    assert corners[0, 0] < corners[1, 0]  # the first key is at the left
    assert figure.get_supylabel() == "queries"
    assert figure.get_supxlabel() == "keys"


def test_layers_are_rows_and_heads_are_columns():
    layers = {f"block_{i}/self_attention": weights(2, H, T, T, seed=i) for i in range(4)}
    figure = plot_attention(layers, WORDS, WORDS, example=1)
    maps = heat_maps(figure)
    assert len(maps) == 4 * H
    for i, (array, axes) in enumerate(zip(shown(figure), maps, strict=True)):
        row, head = divmod(i, H)
        np.testing.assert_array_equal(array, layers[f"block_{row}/self_attention"][1, head])
        assert axes.get_title() == (f"head {head}" if row == 0 else "")
        assert ticks(axes.yaxis) == (WORDS if head == 0 else [])
        assert ticks(axes.xaxis) == (WORDS if row == 3 else [])
        assert axes.get_ylabel() == (f"block_{row}/\nself_attention" if head == 0 else "")


def test_one_head_may_come_with_or_without_its_axes_and_all_weights_may_be_0():
    for shape in [(T, S), (1, T, S), (1, 1, T, S)]:
        w = weights(*shape)
        np.testing.assert_array_equal(shown(plot_attention(w)), w.reshape(1, T, S))
    heat_map, _ = plot_attention(np.zeros((T, S))).axes
    assert heat_map.images[0].get_clim() == (0, 1)


def test_every_heat_map_has_the_colours_of_one_bar_from_0_to_the_largest_weight():
    layers = {"a": weights(2, T, S) / 10, "b": weights(2, T, S)}
    *maps, bar = plot_attention(layers).axes
    highest = pytest.approx(layers["b"].max())
    assert [axes.images[0].get_clim() for axes in maps] == [(0, highest)] * 4
    assert bar.get_ylim() == (0, highest)
    assert bar.get_ylabel() == "weight"


def test_layers_may_differ_in_heads_and_lengths():
    figure = plot_attention(
        {"self": weights(2, T, T), "cross": weights(H, T, S), "last": weights(1, 2, S)}
    )
    assert [array.shape for array in shown(figure)] == [(T, T)] * 2 + [(T, S)] * H + [(2, S)]
    titles = [axes.get_title() for axes in heat_maps(figure)]
    assert titles == ["head 0", "head 1", "", "", "head 2", ""]
    numbered = [bool(ticks(axes.xaxis)) for axes in heat_maps(figure)]
    assert numbered == [True, True, False, True, True, True]  # where no such keys stand below


def test_weights_of_a_model_go_in_as_they_come_out():
    encoder = Encoder(11, 2, 8, 16, 2, dtype="bfloat16")
    _, found = encoder(np.array([[5, 3, 2, 7, 1], [4, 4, 0, 0, 0]]), return_attention_scores=True)
    figure = plot_attention(found, example=1)
    for i, array in enumerate(shown(figure)):
        row, head = divmod(i, 2)
        layer = np.asarray(ops.convert_to_numpy(found[list(found)[row]]), "float32")
        np.testing.assert_array_equal(array, layer[1, head])


def test_japanese_and_mathtext_are_drawn_as_the_characters_they_are():
    figure = plot_attention({"注意 $x_1$": weights(2, T, S)}, WORDS, PIECES)
    picture(figure)  # warns of each character that no font has; fails on broken mathtext
    labels = heat_maps(figure)[0].get_yticklabels() + [heat_maps(figure)[0].yaxis.label]
    assert not any(label.get_parse_math() for label in labels)
    with pytest.warns(UserWarning, match="missing from font"):
        heat_maps(figure)[0].set_title("猫", fontfamily="DejaVu Sans")  # that the check can fail
        figure.savefig(io.BytesIO(), format="png")


@pytest.mark.parametrize(
    "num_layers, num_heads, tokens",
    [(2, 4, WORDS), (2, 1, [f"とても長い{i}" for i in range(31)]), (1, 1, ["猫"])],
)
def test_no_two_labels_overlap(num_layers, num_heads, tokens):
    length = len(tokens)
    layers = {
        f"decoder/block_{i}/cross_attention": weights(num_heads, length, length)
        for i in range(num_layers)
    }
    figure = plot_attention(layers, tokens, tokens)
    figure.draw_without_rendering()
    page = figure.bbox
    maps = heat_maps(figure)
    texts = [label for axes in maps for label in axes.get_xticklabels() + axes.get_yticklabels()]
    texts += [axes.yaxis.label for axes in maps] + [axes.title for axes in maps]
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    boxes += [axes.get_window_extent().padded(-1) for axes in maps]
    for i, box in enumerate(boxes):
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_cells_are_square_in_every_row():
    figure = plot_attention({"self": weights(2, 11, S), "cross": weights(2, T, S)})
    figure.draw_without_rendering()
    for axes, array in zip(heat_maps(figure), shown(figure), strict=True):
        box = axes.get_window_extent()
        np.testing.assert_allclose(box.width / S, box.height / len(array), rtol=0.02)


def test_a_row_is_as_high_as_the_name_of_its_layer_is_long():
    layers = {f"a layer whose name is long, number {i}": weights(2, 2, S) for i in range(3)}
    figure = plot_attention(layers)
    figure.draw_without_rendering()
    names = [axes.yaxis.label.get_window_extent() for axes in heat_maps(figure)[::2]]
    assert all(above.y0 > below.y1 for above, below in zip(names, names[1:], strict=False))


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"weights": weights(S)}, r"`weights` must have shape .*weights.shape=\(7,\)"),
        ({"weights": {"a": weights(1, 1, 1, T, S)}}, r"`weights\['a'\]` must have shape"),
        ({"weights": np.zeros((0, 3))}, r"no size 0.*Received: weights.shape=\(0, 3\)"),
        ({"weights": {}}, r"`weights` must hold at least one layer. Received: weights=\{\}"),
        ({"weights": None}, r"`weights` must be an array of numbers.*=NoneType"),
        ({"weights": [["a"]]}, r"`weights` must be an array of numbers.*=list"),
        ({"weights": [[0.5, 0.5], [1]]}, r"`weights` must be an array of numbers.*=list"),
        ({"weights": weights(T, S) - 1}, r"from 0 to 1. Received: values from -"),
        ({"weights": weights(T, S) * np.nan}, r"from 0 to 1. Received: values from nan"),
        ({"weights": weights(T, S) * 9}, r"after the softmax"),
        ({"query_tokens": WORDS[:4]}, r"`query_tokens` must be .* T=5. Received: len.*=4"),
        ({"key_tokens": [*PIECES, "!"]}, r"`key_tokens` must be .* S=7. Received: len.*=8"),
        ({"query_tokens": "words"}, r"`query_tokens` must be a list of strings.*='words'"),
        ({"key_tokens": list(range(S))}, r"`key_tokens` must be a list of strings"),
        ({"key_tokens": 7}, r"`key_tokens` must be a list of strings.*=7"),
        (
            {"weights": {"a": weights(2, T, S), "b": weights(2, T, 2)}, "key_tokens": PIECES},
            r"`key_tokens` must be as many as the weights of layer 'b' have, S=2",
        ),
        ({"weights": weights(2, H, T, S), "example": 2}, r"`example` .* from 0 to 1.*example=2"),
        ({"weights": weights(2, H, T, S), "example": -1}, r"`example` .*example=-1"),
        ({"weights": weights(2, H, T, S), "example": 0.0}, r"`example` .*example=0.0"),
        ({"weights": weights(2, H, T, S), "example": True}, r"`example` .*example=True"),
        ({"weights": weights(H, T, S), "example": 1}, r"`example` .*has 1 in its batch"),
    ],
)
def test_wrong_arguments_are_refused_with_what_was_expected(arguments, message):
    with pytest.raises(ValueError, match=message):
        plot_attention(**{"weights": weights(T, S), **arguments})
