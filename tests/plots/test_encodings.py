import importlib
import io
import sys

import matplotlib
import numpy as np
import pytest
from keras import ops
from matplotlib import pyplot

import keras_attn
from keras_attn import PositionalEncoding, plots

T, D = 60, 32
TABLE = np.ones((5, 3))


@pytest.fixture(scope="module")
def encoding():
    return ops.convert_to_numpy(PositionalEncoding()(ops.zeros((1, T, D))))[0]


def shown(axes):
    return np.asarray(axes.images[0].get_array())


def test_curves_are_the_columns_over_the_positions(encoding):
    figure = plots.plot_encoding_curves(encoding, range(6, 10))
    (axes,) = figure.axes
    assert axes.get_xlabel() == "position"
    for column, curve in zip(range(6, 10), axes.lines, strict=True):
        np.testing.assert_array_equal(curve.get_xdata(), np.arange(T))
        np.testing.assert_array_equal(curve.get_ydata(), encoding[:, column])
    (legend,) = figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["column 6", "column 7", "column 8", "column 9"]


def test_as_many_curves_as_columns_have_colours_of_their_own_and_room_in_the_legend(encoding):
    figure = plots.plot_encoding_curves(encoding, range(D))
    figure.draw_without_rendering()
    assert len({tuple(curve.get_color()) for curve in figure.axes[0].lines}) == D
    box = figure.legends[0].get_window_extent()
    assert box.y0 >= 0 and box.x1 <= figure.bbox.x1
    assert not box.overlaps(figure.axes[0].get_window_extent())


def test_the_heat_map_has_positions_down_columns_across_and_white_for_0(encoding):
    axes, bar = plots.plot_encoding(encoding).axes
    np.testing.assert_array_equal(shown(axes), encoding)
    assert axes.yaxis_inverted() and not axes.xaxis_inverted()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("column", "position")
    low, high = axes.images[0].get_clim()
    assert low == -high == -np.abs(encoding).max()
    assert bar.get_ylabel() == "encoding"
    plots.plot_encoding(np.zeros((1, 1))).savefig(io.BytesIO(), format="png")


def test_similarity_is_the_cosine_and_a_row_of_zeros_is_similar_to_none():
    table = np.random.default_rng(0).normal(size=(5, 3))
    table[2] = 0
    axes, _ = plots.plot_position_similarity(table).axes
    lengths = np.linalg.norm(table, axis=1)
    lengths[2] = 1
    expected = table @ table.T / np.outer(lengths, lengths)
    np.testing.assert_allclose(shown(axes), expected, atol=1e-12)
    assert axes.images[0].get_clim() == (-1, 1)


def test_numbers_are_counted_in_binary_with_the_encoding_beside_them(encoding):
    (axes,) = plots.plot_binary_counting().axes
    digits = [text.get_text() for text in axes.texts]
    rows = ["".join(digits[3 * number :][:3]) for number in range(8)]
    assert rows == ["000", "001", "010", "011", "100", "101", "110", "111"]
    np.testing.assert_array_equal(shown(axes).ravel(), np.array(digits, int))
    assert [label.get_text() for label in axes.get_yticklabels()] == list("01234567")
    numbers, right, _ = plots.plot_binary_counting(4, encoding).axes
    assert shown(numbers).shape == (16, 4)
    np.testing.assert_array_equal(shown(right), encoding)
    assert numbers.get_position().x1 < right.get_position().x0


def test_wrong_arguments_are_refused_with_what_was_expected():
    cases = [
        (plots.plot_encoding, np.ones(3), r"`encoding` must have shape \(T, D\).*\(3,\)"),
        (plots.plot_encoding, np.ones((1, 5, 3)), r"`encoding` must have shape \(T, D\)"),
        (plots.plot_encoding, np.ones((0, 3)), r"at least one position and column"),
        (plots.plot_encoding, TABLE * np.inf, r"all finite. Received: .*finite=False"),
        (plots.plot_encoding, "table", r"`encoding` must be an array of numbers.*=str"),
        (plots.plot_encoding, [["a"]], r"`encoding`.*Received"),
        (plots.plot_position_similarity, np.ones(3), r"`encoding` must have shape"),
        (lambda x: plots.plot_encoding_curves(x, [0]), np.ones(3), r"`encoding` must have shape"),
        (lambda x: plots.plot_binary_counting(3, x), np.ones(3), r"`encoding` must have shape"),
        (plots.plot_binary_counting, 0, r"`num_bits` .* from 1 to 8. .*num_bits=0"),
        (plots.plot_binary_counting, 9, r"`num_bits` .* from 1 to 8. .*num_bits=9"),
        (plots.plot_binary_counting, 3.0, r"`num_bits` must be an integer.*=3.0"),
        (plots.plot_binary_counting, True, r"`num_bits` must be an integer.*=True"),
    ]
    for columns in ([0, 3], [-1], [], 1, [1.0], [True]):
        message = r"`columns` must be integers from 0 to 2, .* D=3 columns. Received: columns="
        cases.append((lambda columns: plots.plot_encoding_curves(TABLE, columns), columns, message))
    for draw, argument, message in cases:
        with pytest.raises(ValueError, match=message):
            draw(argument)


def test_plots_leave_matplotlib_alone_and_a_missing_package_is_named(monkeypatch):
    def import_again():
        monkeypatch.setattr(keras_attn, "plots", keras_attn.plots)  # restored at the end
        for name in [name for name in sys.modules if name.startswith("keras_attn.plots")]:
            monkeypatch.delitem(sys.modules, name)
        return importlib.import_module("keras_attn.plots")

    figures = pyplot.get_fignums()
    for name in [name for name in sys.modules if name.startswith("matplotlib_fontja")]:
        monkeypatch.delitem(sys.modules, name)
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        before = dict(matplotlib.rcParams)
        again, table = import_again(), [[0.25, 0.75], [1.0, 0.0]]
        again.plot_attention(table, ["猫", "犬"], ["$", "a"]).draw_without_rendering()
        again.plot_encoding_curves(table, [1]).draw_without_rendering()
        again.plot_binary_counting(3, table).draw_without_rendering()
        assert dict(matplotlib.rcParams) == before
    assert pyplot.get_fignums() == figures
    for missing in ("matplotlib_fontja", "matplotlib"):
        for name in {missing, *sys.modules}:
            if name.split(".")[0] == missing:
                monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ImportError, match="`matplotlib-fontja`. Run `pip install"):
            import_again()
