"""The pictures of README and site show what the code draws now."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def pictures(building):
    import pictures

    from keras_attn import attention_grid

    with pytest.MonkeyPatch.context() as patch:
        # The layout takes most of the time of a figure, and changes nothing that it shows.
        patch.setattr(attention_grid, "_fit", lambda *arguments: None)
        yield pictures


def differences(stored, drawn, place=""):
    """Places at which two descriptions differ; numbers may differ by their rounding."""
    if isinstance(stored, dict):
        return sum((differences(stored[key], drawn[key], f"{place}/{key}") for key in stored), [])
    if isinstance(stored, list) and stored and isinstance(stored[0], dict | str):
        if len(stored) != len(drawn):
            return [f"{place}: {len(stored)} and {len(drawn)} parts"]
        pairs = zip(stored, drawn, strict=True)
        return sum((differences(*pair, f"{place}/{i}") for i, pair in enumerate(pairs)), [])
    if isinstance(stored, list):
        shapes = [np.shape(part) for part in stored], [np.shape(part) for part in drawn]
        if shapes[0] != shapes[1]:
            return [f"{place}: shapes {shapes[0]} and {shapes[1]}"]
        gaps = [np.abs(np.subtract(a, b)).max() for a, b in zip(stored, drawn, strict=True)]
        return [f"{place}: numbers differ by {gap:.3g}" for gap in gaps if gap > 0.002]
    return [] if stored == drawn else [f"{place}: {stored!r} and {drawn!r}"]


@pytest.mark.slow
def test_every_picture_shows_what_its_code_draws(pictures):
    for name, draw in pictures.PICTURES.items():
        stored = pictures.stored_description(pictures.FOLDER / f"{name}.png")
        found = differences(stored, pictures.description(draw()))
        assert not found, f"{name}.png is old: {found}. Run `python docs/building/pictures.py`."


def test_no_picture_is_left_over(pictures):
    stored = {path.stem for path in pictures.FOLDER.glob("*.png")}
    assert stored == set(pictures.PICTURES)


@pytest.mark.slow
def test_other_numbers_or_labels_are_found(pictures):
    stored = pictures.stored_description(pictures.FOLDER / "masked_softmax.png")
    drawn = pictures.description(pictures.masked_softmax())
    drawn[0]["images"][0][1][2] += 0.01
    drawn[0]["rows"][0] = "other"
    assert differences(stored, drawn) == [
        "/0/rows/0: '6 valid' and 'other'",
        "/0/images: numbers differ by 0.01",
    ]
