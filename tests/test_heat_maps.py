import numpy as np
import pytest

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure  # noqa: E402

from keras_attn.heat_maps import heat_map, numbers_of  # noqa: E402


def test_cells_show_the_values_with_the_first_row_on_top():
    axes = Figure().subplots()
    values = np.array([[0.0, 0.25, 0.5], [0.75, 1.0, 0.1]])
    heat_map(axes, values, "viridis", 0.0, 1.0)
    (image,) = axes.images
    np.testing.assert_array_equal(image.get_array(), values)
    assert image.get_clim() == (0.0, 1.0)
    bottom, top = axes.get_ylim()
    assert bottom > top


def test_numbers_of_a_list_become_floats():
    assert numbers_of("x", [[1, 2]]).dtype.kind == "f"


def test_what_holds_no_numbers_is_refused_by_name():
    with pytest.raises(ValueError, match="`encoding`.*Received"):
        numbers_of("encoding", [["a"]])
