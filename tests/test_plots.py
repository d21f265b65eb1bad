import io
import os
import subprocess
import sys

import numpy as np
import pytest
from keras import ops
from quickest_backend import QUICKEST_BACKEND

from keras_attn import PositionalEncoding, plots

T, D = 60, 32


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
        pair, is_cosine = divmod(column, 2)
        angles = np.arange(T) / 10000 ** (2 * pair / D)
        expected = np.cos(angles) if is_cosine else np.sin(angles)
        np.testing.assert_allclose(curve.get_ydata(), expected, atol=1e-5)
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


def test_a_heat_map_of_zeros_can_be_drawn():
    plots.plot_encoding(np.zeros((1, 1))).savefig(io.BytesIO(), format="png")


def test_similarity_is_the_cosine_and_a_row_of_zeros_is_similar_to_none():
    table = np.random.default_rng(0).normal(size=(5, 3))
    table[2] = 0
    axes, _ = plots.plot_position_similarity(table).axes
    for i in range(5):
        for j in range(5):
            product = np.linalg.norm(table[i]) * np.linalg.norm(table[j])
            expected = table[i] @ table[j] / product if product else 0
            np.testing.assert_allclose(shown(axes)[i, j], expected, atol=1e-12)
    assert axes.images[0].get_clim() == (-1, 1)


def test_similarity_of_sinusoids_depends_on_the_distance_alone(encoding):
    axes, _ = plots.plot_position_similarity(encoding).axes
    for distance in (0, 1, 7, 31):
        diagonal = np.diagonal(shown(axes), distance)
        np.testing.assert_allclose(diagonal, diagonal[0], atol=1e-5)


def test_numbers_are_counted_in_binary():
    (axes,) = plots.plot_binary_counting().axes
    digits = [text.get_text() for text in axes.texts]
    rows = ["".join(digits[3 * number :][:3]) for number in range(8)]
    assert rows == ["000", "001", "010", "011", "100", "101", "110", "111"]
    np.testing.assert_array_equal(shown(axes).ravel(), np.array(digits, int))
    assert [label.get_text() for label in axes.get_yticklabels()] == list("01234567")


def test_the_encoding_is_drawn_beside_the_numbers(encoding):
    numbers, beside, _ = plots.plot_binary_counting(4, encoding).axes
    assert shown(numbers).shape == (16, 4)
    np.testing.assert_array_equal(shown(beside), encoding)
    assert numbers.get_position().x1 < beside.get_position().x0


TABLE = np.ones((5, 3))


@pytest.mark.parametrize(
    "draw, message",
    [
        (lambda: plots.plot_encoding(np.ones(3)), r"`encoding` must have shape \(T, D\).*\(3,\)"),
        (lambda: plots.plot_encoding(np.ones((1, 5, 3))), r"`encoding` must have shape \(T, D\)"),
        (lambda: plots.plot_encoding(np.ones((0, 3))), r"at least one position and column"),
        (lambda: plots.plot_encoding(TABLE * np.inf), r"all finite. Received: .*finite=False"),
        (lambda: plots.plot_encoding("table"), r"`encoding` must be an array of numbers.*=str"),
        (lambda: plots.plot_position_similarity(np.ones(3)), r"`encoding` must have shape"),
        (lambda: plots.plot_encoding_curves(np.ones(3), [0]), r"`encoding` must have shape"),
        (lambda: plots.plot_encoding_curves(TABLE, [0, 3]), r"from 0 to 2.*columns=\[0, 3\]"),
        (lambda: plots.plot_encoding_curves(TABLE, [-1]), r"`columns` must be integers"),
        (lambda: plots.plot_encoding_curves(TABLE, []), r"`columns` must be integers"),
        (lambda: plots.plot_encoding_curves(TABLE, 1), r"D=3 columns. Received: columns=1"),
        (lambda: plots.plot_encoding_curves(TABLE, [1.0]), r"`columns` must be integers"),
        (lambda: plots.plot_encoding_curves(TABLE, [True]), r"`columns` must be integers"),
        (lambda: plots.plot_binary_counting(0), r"`num_bits` .* from 1 to 8. .*num_bits=0"),
        (lambda: plots.plot_binary_counting(9), r"`num_bits` .* from 1 to 8. .*num_bits=9"),
        (lambda: plots.plot_binary_counting(3.0), r"`num_bits` must be an integer.*=3.0"),
        (lambda: plots.plot_binary_counting(True), r"`num_bits` must be an integer.*=True"),
        (lambda: plots.plot_binary_counting(3, np.ones(3)), r"`encoding` must have shape"),
    ],
)
def test_wrong_arguments_are_refused_with_what_was_expected(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


def test_drawing_leaves_matplotlib_alone_and_a_missing_package_is_named():
    code = """if True:
        import sys, keras, matplotlib
        from matplotlib import pyplot
        before = dict(matplotlib.rcParams)
        from keras_attn import plots
        table = [[0.25, 0.75], [1.0, 0.0]]
        plots.plot_attention(table, ["猫", "犬"], ["$", "a"]).draw_without_rendering()
        plots.plot_encoding_curves(table, [1]).draw_without_rendering()
        plots.plot_binary_counting(3, table).draw_without_rendering()
        print(dict(matplotlib.rcParams) == before, pyplot.get_fignums())
        for missing in ("matplotlib_fontja", "matplotlib"):
            for name in [n for n in sys.modules if n.startswith(("keras_attn", "matplotlib"))]:
                del sys.modules[name]
            sys.modules[missing] = None
            try:
                from keras_attn import plots
            except ImportError as error:
                print(error)
            sys.modules.pop(missing)
    """
    # The pictures are the same on each backend.
    environment = {**os.environ, "KERAS_BACKEND": QUICKEST_BACKEND}
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("True []\n")
    assert result.stdout.count('pip install -e ".[plots]"') == 2
