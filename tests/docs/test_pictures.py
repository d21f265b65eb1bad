"""The pictures of README and site show what the code draws now."""

import keras
import pytest

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def pictures(building):
    import pictures

    from keras_attn.plots import attention_grid

    with pytest.MonkeyPatch.context() as patch:
        # The layout takes most of the time of a figure, and changes nothing that it shows.
        patch.setattr(attention_grid, "_fit", lambda *arguments: None)
        yield pictures


def differences(stored, drawn):
    """Places at which two descriptions differ; numbers may differ by their rounding."""
    stored, drawn = (dict(keras.tree.flatten_with_path(one)) for one in (stored, drawn))
    found = []
    for place in stored.keys() | drawn.keys():
        old, new = stored.get(place), drawn.get(place)
        are_numbers = isinstance(old, float) and isinstance(new, float)
        if abs(old - new) > 0.002 if are_numbers else old != new:
            found.append(f"{place}: {old!r} and {new!r}")
    return found


def test_every_drawing_shows_what_its_code_draws(building):
    import drawings

    for draw in drawings.DRAWINGS:
        stored = drawings.stored_description(drawings.FOLDER / f"{draw.__name__}.svg")
        found = differences(stored, drawings.description(draw()))
        assert not found, f"{draw.__name__}.svg is old: {found}. Run `python {drawings.__file__}`."
    names = {path.stem for path in drawings.FOLDER.glob("*.svg")}
    assert names == {draw.__name__ for draw in drawings.DRAWINGS}


@pytest.mark.slow
def test_every_picture_shows_what_its_code_draws(pictures):
    import picture_files

    for name, draw in pictures.PICTURES.items():
        stored = picture_files.stored_description(pictures.FOLDER / f"{name}.png")
        found = differences(stored, picture_files.description(draw()))
        assert not found, f"{name}.png is old: {found}. Run `python docs/building/pictures.py`."


def test_no_picture_is_left_over(pictures):
    stored = {path.stem for path in pictures.FOLDER.glob("*.png")}
    assert stored == set(pictures.PICTURES)
