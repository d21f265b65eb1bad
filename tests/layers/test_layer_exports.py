"""Layers in every format that Keras exports, answered by the runtime of the format."""

import itertools

import keras
import numpy as np
import pytest

from keras_attn import DecoderBlock, Encoder, EncoderBlock
from keras_attn.layers import attend, blocks

if keras.backend.backend() != "tensorflow":
    pytest.skip("all these formats are exported by TensorFlow", allow_module_level=True)

RANDOM = np.random.default_rng(2)


def run_saved_model(model, path):
    import tensorflow as tf

    model.export(str(path / "model"), format="tf_saved_model", verbose=False)
    loaded = tf.saved_model.load(str(path / "model"))
    return lambda x: loaded.serve(x)


def run_onnx(model, path):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("tf2onnx")
    model.export(str(path / "model.onnx"), format="onnx", verbose=False)
    session = runtime.InferenceSession(str(path / "model.onnx"), providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return lambda x: session.run(None, {name: x})[0]


def run_openvino(model, path):
    openvino = pytest.importorskip("openvino")
    model.export(str(path / "model.xml"), format="openvino", verbose=False)
    precise = {"INFERENCE_PRECISION_HINT": "f32"}
    compiled = openvino.compile_model(str(path / "model.xml"), "CPU", precise)
    return lambda x: compiled(x)[0]


def run_litert(model, path):
    import tensorflow as tf

    interpreter = pytest.importorskip("ai_edge_litert.interpreter")
    only = {"supported_ops": [tf.lite.OpsSet.TFLITE_BUILTINS]}
    file = str(path / "model.tflite")
    model.export(file, format="litert", verbose=False, target_spec=only)

    def run(x):
        runtime = interpreter.Interpreter(file)
        entry = runtime.get_input_details()[0]["index"]
        runtime.resize_tensor_input(entry, x.shape)
        runtime.allocate_tensors()
        runtime.set_tensor(entry, x)
        runtime.invoke()
        return runtime.get_tensor(runtime.get_output_details()[0]["index"])

    return run


RUNTIMES = [run_saved_model, run_onnx, run_openvino, run_litert]
MODELS = {
    "block": lambda: [keras.Input((None, 8)), EncoderBlock(8, 16, 2)],
    "masked block": lambda: [
        keras.Input((None, 8)),
        keras.layers.Masking(),
        EncoderBlock(8, 16, 2, gated=True, window=3),
    ],
    "causal block": lambda: [keras.Input((None, 8)), DecoderBlock(8, 16, 2, cross_attention=False)],
    "encoder": lambda: [keras.Input((None,), dtype="int32"), Encoder(9, 1, 8, 16, 2)],
}


def example(name, shape):
    if name == "encoder":
        ids = RANDOM.integers(1, 9, shape).astype(np.int32)
        ids[:, shape[1] - 1 :] = 0 if shape[1] > 1 else 3
        return ids
    x = RANDOM.normal(size=(*shape, 8)).astype(np.float32)
    x[0, 2:3] = 0
    return x


CASES = list(itertools.product(("block", "encoder"), RUNTIMES))
# The quicker ones take the other masks too.
CASES += itertools.product(("masked block", "causal block"), (run_onnx, run_litert))
QUICK = ("block", run_saved_model)


@pytest.mark.parametrize(
    ("name", "run"),
    [pytest.param(*case, marks=[] if case == QUICK else pytest.mark.slow) for case in CASES],
)
def test_the_runtime_of_the_format_has_keras_answers_for_any_size(name, run, tmp_path, monkeypatch):
    # So few weights that longer inputs go block by block, in the exported file too.
    monkeypatch.setattr(attend, "BLOCKWISE_WEIGHTS", 500)
    monkeypatch.setattr(blocks, "BLOCK_QUERIES", 4)
    model = keras.Sequential(MODELS[name]())
    inputs = [example(name, shape) for shape in [(3, 5), (1, 1), (2, 11)]]
    expected = [model(x).numpy() for x in inputs]
    runtime = run(model, tmp_path)
    for x, answer in zip(inputs, expected, strict=True):
        np.testing.assert_allclose(runtime(x), answer, atol=1e-5)
