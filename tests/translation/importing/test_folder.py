import sys

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

from keras_attn.translation.importing import folder


def test_a_file_that_is_missing_or_broken_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"must be the folder of a Marian model. .* `config.json`"):
        folder.read_json(tmp_path, "config.json")
    assert folder.read_json(tmp_path, "config.json", needed=False) == {}
    (tmp_path / "config.json").write_text('{"a":')
    with pytest.raises(ValueError, match=r"config.json` must be a file of JSON"):
        folder.read_json(tmp_path, "config.json", needed=False)
    (tmp_path / "config.json").write_text("[1]")
    with pytest.raises(ValueError, match=r"must be a mapping of JSON. Received: .*list"):
        folder.read_json(tmp_path, "config.json")
    with pytest.raises(ValueError, match="no `model.safetensors` and no `pytorch_model.bin`"):
        folder.read_weights(tmp_path)


def test_floats_of_every_precision_are_read(tmp_path):
    arrays = {
        "whole": np.array([[1.5, -2.0, 3.25]], np.float32),
        "half": np.array([0.5, 4.0], np.float16),
        "brain": np.array([[-1.0], [0.375]], ml_dtypes.bfloat16),
        "ids": np.array([7]),
    }
    path = tmp_path / "model.safetensors"
    safetensors.numpy.save_file(arrays, path, {"format": "pt"})
    found = folder.read_weights(tmp_path)
    assert set(found) == set(arrays) - {"ids"}
    for name, values in found.items():
        assert values.dtype == np.float32
        np.testing.assert_array_equal(values, arrays[name].astype(np.float32))


def test_a_damaged_file_of_weights_is_named(tmp_path):
    path = tmp_path / "model.safetensors"
    whole = safetensors.numpy.save({"a": np.ones(5)})
    for data in (b"", whole[:40], whole[:-9], (2).to_bytes(8, "little") + b"{x"):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=r"model\.safetensors` is cut off or is not a"):
            folder.read_weights(tmp_path)


def test_weights_may_be_a_file_of_pytorch(tmp_path, tiny_files):
    torch = pytest.importorskip("torch")
    *_, expected = tiny_files
    path = tmp_path / "pytorch_model.bin"
    torch.save({name: torch.tensor(values) for name, values in expected.items()}, path)
    found = folder.read_weights(tmp_path)
    assert found.keys() == expected.keys()
    assert all((found[name] == expected[name]).all() for name in found)
    path.write_bytes(path.read_bytes()[:999])
    with pytest.raises(ValueError, match="pytorch_model.bin` is cut off or holds no tensors"):
        folder.read_weights(tmp_path)


def test_weights_of_pytorch_need_pytorch(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    (tmp_path / "pytorch_model.bin").write_bytes(bytes(32))
    with pytest.raises(ValueError, match="PyTorch, which is not installed. .*pip install torch"):
        folder.read_weights(tmp_path)
