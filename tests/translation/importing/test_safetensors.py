import json

import ml_dtypes
import numpy as np
import pytest

from keras_attn.translation.importing import safetensors

TENSORS = {
    "whole": ("F32", np.array([[1.5, -2.0, 3.25]], "<f4")),
    "half": ("F16", np.array([0.5, 4.0], "<f2")),
    "brain": ("BF16", np.array([[-1.0], [0.375]], ml_dtypes.bfloat16)),
    "ids": ("I64", np.array([7], "<i8")),
}


def content(**changes):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, (dtype, values) in TENSORS.items():
        places = [len(data), len(data) + values.nbytes]
        header[name] = {"dtype": dtype, "shape": list(values.shape), "data_offsets": places}
        data += values.tobytes()
    text = json.dumps(header | changes).encode()
    return len(text).to_bytes(8, "little") + text + data


def read(folder, data):
    path = folder / "model.safetensors"
    path.write_bytes(data)
    return safetensors.read(path)


def test_floats_of_every_precision_are_read(tmp_path):
    found = read(tmp_path, content())
    assert set(found) == set(TENSORS) - {"ids"}
    for name, values in found.items():
        assert values.dtype == np.float32
        np.testing.assert_array_equal(values, TENSORS[name][1].astype(np.float32))


def test_a_damaged_file_is_named(tmp_path):
    for data, reason in (
        (b"", "cut off: its header"),
        (content()[:40], "cut off: its header"),
        (content()[:-9], "cut off: it ends inside the tensor 'ids'|inside the tensor 'brain'"),
        ((2).to_bytes(8, "little") + b"{x", "not a safetensors file"),
        (content(whole={"dtype": "F32"}), "not a safetensors file"),
    ):
        with pytest.raises(ValueError, match=rf"model\.safetensors` is .*({reason})"):
            read(tmp_path, data)
