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


def test_one_heat_map_shows_the_weights_with_queries_down_and_keys_across():
    w = weights(T, S)
    figure = plot_attention(w, WORDS, PIECES)
    (axes,) = heat_maps(figure)
    np.testing.assert_array_equal(shown(figure)[0], w)
    assert (ticks(axes.yaxis), ticks(axes.xaxis)) == (WORDS, PIECES)
    corners = axes.transData.transform([(0, 0), (S - 1, T - 1)])
    assert corners[0, 1] > corners[1, 1]  # the first query is on top
    assert corners[0, 0] < corners[1, 0]  # the first key is at the left
    assert (figure.get_supylabel(), figure.get_supxlabel()) == ("queries", "keys")


def test_layers_of_a_model_are_rows_and_heads_are_columns():
    encoder = Encoder(11, 3, 8, 16, 2, dtype="bfloat16")
    ids = np.array([[5, 3, 2, 7, 1], [4, 4, 3, 0, 0]])
    _, layers = encoder(ids, return_attention_scores=True)
    figure = plot_attention(layers, WORDS, WORDS, example=1)
    maps = heat_maps(figure)
    assert len(maps) == 3 * 2
    for i, (array, axes) in enumerate(zip(shown(figure), maps, strict=True)):
        row, head = divmod(i, 2)
        expected = ops.convert_to_numpy(layers[f"block_{row}/self_attention"])[1, head]
        np.testing.assert_array_equal(array, expected.astype("float32"))
        assert axes.get_title() == (f"head {head}" if row == 0 else "")
        assert ticks(axes.yaxis) == (WORDS if head == 0 else [])
        assert ticks(axes.xaxis) == (WORDS if row == 2 else [])
        assert axes.get_ylabel() == (f"block_{row}/\nself_attention" if head == 0 else "")


def test_one_head_may_come_with_or_without_its_axes_and_all_weights_may_be_0():
    for shape in [(T, S), (1, T, S), (1, 1, T, S)]:
        w = weights(*shape)
        np.testing.assert_array_equal(shown(plot_attention(w)), w.reshape(1, T, S))
    heat_map, _ = plot_attention(np.zeros((T, S))).axes
    assert heat_map.images[0].get_clim() == (0, 1)


def test_layers_may_differ_in_heads_and_lengths_and_share_a_bar_to_the_largest_weight():
    layers = {"self": weights(2, T, T) / 10, "cross": weights(H, T, S), "last": weights(1, 2, S)}
    figure = plot_attention(layers)
    assert [array.shape for array in shown(figure)] == [(T, T)] * 2 + [(T, S)] * H + [(2, S)]
    titles = [axes.get_title() for axes in heat_maps(figure)]
    assert titles == ["head 0", "head 1", "", "", "head 2", ""]
    numbered = [bool(ticks(axes.xaxis)) for axes in heat_maps(figure)]
    assert numbered == [True, True, False, True, True, True]  # where no such keys stand below
    highest, bar = pytest.approx(max(w.max() for w in layers.values())), figure.axes[-1]
    assert all(axes.images[0].get_clim() == (0, highest) for axes in heat_maps(figure))
    assert (bar.get_ylim(), bar.get_ylabel()) == ((0, highest), "weight")


def test_masked_cells_are_hatched_and_small_weights_are_not():
    w = np.array([[0.5, 0.5, 0], [1, 0, 0]])
    for mask, cells in [
        (None, [(2, 0), (1, 1), (2, 1)]),
        (np.array([True, True, False]), [(2, 0), (2, 1)]),
        (np.ones((1, 1, 3), bool), []),
    ]:
        figure = plot_attention({"a": w[None]}, mask=mask)
        axes, bar = figure.axes
        hatched = [path.get_extents() for drawn in axes.collections for path in drawn.get_paths()]
        assert all(drawn.get_hatch() for drawn in axes.collections)
        assert [(box.x0 + 0.5, box.y0 + 0.5) for box in hatched] == cells
        assert ("masked" in bar.get_ylabel()) == bool(cells)
    figure = plot_attention({"a": w, "b": w[:, :2]}, mask={"b": np.ones((2, 2), bool)})
    assert [len(axes.collections) for axes in heat_maps(figure)] == [1, 0]


def test_japanese_and_mathtext_are_drawn_as_the_characters_they_are():
    figure = plot_attention({"注意 $x_1$": weights(2, T, S)}, WORDS, PIECES)
    with warnings.catch_warnings():
        # Of each character that no font has. Broken mathtext is an error anyway.
        warnings.simplefilter("error")
        figure.savefig(io.BytesIO(), format="png")
    labels = heat_maps(figure)[0].get_yticklabels() + [heat_maps(figure)[0].yaxis.label]
    assert not any(label.get_parse_math() for label in labels)
    with pytest.warns(UserWarning, match="missing from font"):
        heat_maps(figure)[0].set_title("猫", fontfamily="DejaVu Sans")  # that the check can fail
        figure.savefig(io.BytesIO(), format="png")


LONG = [f"とても長い{i}" for i in range(21)]


@pytest.mark.parametrize(
    "num_layers, num_heads, queries, keys",
    [(2, 4, WORDS, WORDS), (2, 1, LONG, LONG), (1, 1, ["猫"], ["猫"]), (3, 2, WORDS[:2], PIECES)],
)
def test_no_two_labels_overlap(num_layers, num_heads, queries, keys):
    names = [f"decoder/a block whose name is long, number {i}" for i in range(num_layers)]
    layers = dict.fromkeys(names, weights(num_heads, len(queries), len(keys)))
    figure = plot_attention(layers, queries, keys)
    figure.draw_without_rendering()
    page, maps = figure.bbox, heat_maps(figure)
    texts = [label for axes in maps for label in axes.get_xticklabels() + axes.get_yticklabels()]
    texts += [axes.yaxis.label for axes in maps] + [axes.title for axes in maps]
    boxes = [axes.get_window_extent().padded(-1) for axes in maps]
    boxes += [text.get_window_extent() for text in texts if text.get_text()]
    for i, box in enumerate(boxes):
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_cells_are_square_in_every_row():
    figure = plot_attention({"self": weights(2, 11, S), "cross": weights(2, T, S)})
    figure.draw_without_rendering()
    for axes, array in zip(heat_maps(figure), shown(figure), strict=True):
        box = axes.get_window_extent()
        np.testing.assert_allclose(box.width / S, box.height / len(array), rtol=0.02)


def test_wrong_arguments_are_refused_with_what_was_expected():
    two, batch = {"a": weights(2, T, S), "b": weights(2, T, 2)}, weights(2, H, T, S)
    for arguments, message in [
        ({"weights": weights(S)}, r"`weights` must have shape .*weights.shape=\(7,\)"),
        ({"weights": {"a": weights(1, 1, 1, T, S)}}, r"`weights\['a'\]` must have shape"),
        ({"weights": np.zeros((0, 3))}, r"no size 0.*Received: weights.shape=\(0, 3\)"),
        ({"weights": {}}, r"`weights` must hold at least one layer. Received: weights=\{\}"),
        ({"weights": [["a"]]}, r"`weights` must be an array of numbers.*=list"),
        ({"weights": [weights(1, 1, T, S)] * 2}, r"must be a dict, `\{name: weights\}`.*list of 2"),
        ({"weights": weights(T, S) - 1}, r"from 0 to 1. Received: values from -"),
        ({"weights": weights(T, S) * np.nan}, r"from 0 to 1. Received: values from nan"),
        ({"weights": weights(T, S) * 9}, r"after the softmax"),
        ({"query_tokens": WORDS[:4]}, r"`query_tokens` must be .* T=5. Received: len.*=4"),
        ({"query_tokens": "words"}, r"`query_tokens` must be a list of strings.*='words'"),
        ({"key_tokens": [*PIECES, "!"]}, r"`key_tokens` must be .* S=7. Received: len.*=8"),
        ({"key_tokens": list(range(S))}, r"`key_tokens` must be a list of strings"),
        ({"key_tokens": 7}, r"`key_tokens` must be a list of strings.*=7"),
        ({"weights": two, "key_tokens": PIECES}, r"as many as the weights of layer 'b' have, S=2"),
        ({"mask": np.zeros(S, bool)}, r"`mask` must be True where.*at 35 weights of `weights`"),
        ({"weights": batch, "example": 2}, r"`example` .* from 0 to 1.*example=2"),
        ({"weights": batch, "example": -1}, r"`example` .*example=-1"),
        ({"weights": batch, "example": True}, r"`example` .*example=True"),
        ({"weights": batch[0], "example": 1}, r"`example` .*has 1 in its batch"),
    ]:
        with pytest.raises(ValueError, match=message):
            plot_attention(**{"weights": weights(T, S), **arguments})
