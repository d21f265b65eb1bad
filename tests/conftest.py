"""The only place in the tests that knows which backend Keras runs on (`KERAS_BACKEND`)."""

import gc
import importlib
import os
import shutil
import socket
import time
import uuid
from collections import Counter

# Programs of XLA run for moments here, so they are optimized as little as possible.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")

import keras
import numpy as np
import pytest
from keras import ops

BACKEND = keras.backend.backend()

if BACKEND != "tensorflow":
    # The translator is TensorFlow's: text, data sets, SavedModel. Pages and pictures are checked
    # once; JAX would compile each operation of each picture.
    collect_ignore = ["benchmarks", "data", "docs", "examples", "serving", "translation"]
    collect_ignore_glob = ["test_train*.py"]

if BACKEND == "tensorflow":
    from tensorflow.python.framework.ops import gradient_registry

    @pytest.fixture(autouse=True)
    def forget_custom_gradients():
        """Free the graphs of a test.

        TensorFlow keeps the function of each custom gradient that was traced, and with it the
        graph, as long as the process lives: gigabytes at the end of all tests.
        """
        known = set(gradient_registry._registry)
        yield
        for name in set(gradient_registry._registry) - known:
            if name.startswith("CustomGradient-"):
                del gradient_registry._registry[name]


if BACKEND == "torch":
    import torch

    def _read_without_gradient(tensor, dtype=None, copy=None):
        return np.asarray(tensor.detach().cpu().numpy(), dtype)

    # torch refuses to show a tensor that a gradient could still be asked of; the others do not.
    torch.Tensor.__array__ = _read_without_gradient


def _tensorflow_gradients(function, tensors):
    tf = importlib.import_module("tensorflow")
    with tf.GradientTape() as tape:
        for tensor in tensors:
            tape.watch(tensor)
        result = function(*tensors)
    found = tape.gradient(result, tensors, unconnected_gradients="zero")
    return [tf.convert_to_tensor(g) for g in found]  # that of an embedding is sparse


def _jax_gradients(function, tensors):
    jax = importlib.import_module("jax")
    return jax.grad(function, argnums=tuple(range(len(tensors))))(*tensors)


def _torch_gradients(function, tensors):
    leaves = [tensor.detach().clone().requires_grad_() for tensor in tensors]
    return torch.autograd.grad(function(*leaves), leaves, allow_unused=True, materialize_grads=True)


@pytest.fixture(scope="session")
def gradients():
    """`gradients(function, *arrays)`: of the scalar `function(*tensors)`, for each array."""

    def gradients(function, *arrays):
        compute = globals()[f"_{BACKEND}_gradients"]
        found = compute(function, [ops.convert_to_tensor(array) for array in arrays])
        return [ops.convert_to_numpy(gradient) for gradient in found]

    return gradients


@pytest.fixture(scope="session")
def gradient_tensors():
    """`gradient_tensors(function, *tensors)`: as `gradients`, to be differentiated again."""

    def gradient_tensors(function, *tensors):
        if BACKEND == "torch":
            leaves = [t if t.requires_grad else t.clone().requires_grad_() for t in tensors]
            return torch.autograd.grad(function(*leaves), leaves, create_graph=True)
        return globals()[f"_{BACKEND}_gradients"](function, list(tensors))

    return gradient_tensors


@pytest.fixture(scope="session")
def weight_gradients():
    """`weight_gradients(layer, function)`: of the scalar `function()`, for each trainable weight.

    The layer must be built.
    """

    def weight_gradients(layer, function):
        variables = layer.trainable_variables
        if not variables:
            return []
        values = [v.value for v in variables]
        if BACKEND == "tensorflow":
            found = _tensorflow_gradients(lambda *_: function(), values)
        elif BACKEND == "jax":

            def of_values(*values):
                with keras.StatelessScope(state_mapping=zip(variables, values, strict=True)):
                    return function()

            found = _jax_gradients(of_values, values)
        else:
            options = {"allow_unused": True, "materialize_grads": True}
            found = torch.autograd.grad(function(), values, **options)
        return [ops.convert_to_numpy(gradient) for gradient in found]

    return weight_gradients


@pytest.fixture
def no_earlier_garbage():
    """Keras collects garbage for each quantized weight; what is here already is none."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(scope="session")
def compiled():
    """`compiled(function)`: the function as the backend's compiler runs it; as it is on torch.

    With `jit_compile=False` TensorFlow makes a graph without XLA. With `any_size=True` a
    TensorFlow graph knows only the last size of each argument.
    """

    def compiled(function, jit_compile=True, any_size=False):
        if BACKEND == "jax":
            return importlib.import_module("jax").jit(function)
        if BACKEND == "torch":
            return function
        tf = importlib.import_module("tensorflow")
        if not any_size:
            return tf.function(function, jit_compile=jit_compile)

        def call(*arrays):
            tensors = [tf.convert_to_tensor(array) for array in arrays]
            signature = [
                tf.TensorSpec((*[None] * (len(t.shape) - 1), *t.shape[-1:]), t.dtype)
                for t in tensors
            ]
            graph = tf.function(function, jit_compile=jit_compile, input_signature=signature)
            return graph(*tensors)

        return call

    return compiled


@pytest.fixture(scope="session")
def compiles():
    """Value for `compile(jit_compile=...)`: torch's compiler needs one of C++ to be there."""
    return BACKEND != "torch"


@pytest.fixture(scope="session")
def export_and_reload():
    """`export_and_reload(model, path)`: a function that answers from the exported file alone."""

    def export_and_reload(model, path):
        if BACKEND == "torch":
            pytest.skip("Keras exports no model with unknown sizes from torch")
        model.export(str(path), format="tf_saved_model", verbose=False)
        tf = importlib.import_module("tensorflow")
        loaded = tf.saved_model.load(str(path))
        return lambda arrays: loaded.serve(
            {name: tf.convert_to_tensor(array) for name, array in arrays.items()}
        )

    return export_and_reload


@pytest.fixture(scope="session")
def tokenizers(tmp_path_factory):
    """Tokenizers of the shared translator (`shared_translator.py`)."""
    shared_translator = importlib.import_module("shared_translator")
    return shared_translator.make_tokenizers(tmp_path_factory.mktemp("tokenizers"))


@pytest.fixture(scope="session")
def make_model(tokenizers):
    """`make_model(precision="float32")`: the model of the shared translator, in memory."""
    shared_translator = importlib.import_module("shared_translator")
    return lambda *options: shared_translator.make_shared_model(tokenizers, *options)


@pytest.fixture(scope="session")
def make_once(tmp_path_factory):
    """`make_once(name, make)`: a folder that `make(folder)` has filled, once for all processes."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # it has a folder of its own, inside one for all
        shared = shared.parent
    lock = importlib.import_module("filelock").FileLock

    def make_once(name, make):
        folder, unfinished = shared / name, shared / f"{name}-unfinished"
        with lock(shared / f"{name}.lock"):
            if not folder.exists():
                shutil.rmtree(unfinished, ignore_errors=True)
                unfinished.mkdir()
                make(unfinished)
                unfinished.rename(folder)
        return folder

    return make_once


@pytest.fixture(scope="session")
def free_port():
    """`free_port()`: the number of a port that is not in use."""

    def free_port():
        with socket.create_server(("127.0.0.1", 0)) as listening:
            return listening.getsockname()[1]

    return free_port


@pytest.fixture(scope="session")
def exported(make_once):
    """The folder `ja-en` of the shared translator, with a version 1. Read-only: copy it first."""
    export_to = importlib.import_module("shared_translator").export_to
    return make_once("shared_translator", export_to) / "ja-en"


@pytest.fixture(scope="session")
def translator(exported):
    """The shared translator, loaded."""
    module = importlib.import_module("keras_attn.translation.export.translator")
    return module.Translator.load(exported)


@pytest.fixture
def clock(monkeypatch):
    """Time in seconds that the test sets, as a list of one number."""
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def translation_set(tmp_path, monkeypatch):
    """`translation_set(pairs)`: the name of a set of TensorFlow Datasets that holds them.

    `pairs` are Japanese and English; `fetch(download_manager)` is what is done to get them, `split`
    where they are.
    """
    tfds = importlib.import_module("tensorflow_datasets")
    monkeypatch.setenv("KERAS_ATTN_CACHE", str(tmp_path / "cache"))

    def translation_set(pairs, fetch=lambda manager: None, split="train"):
        class MadeUp(tfds.core.GeneratorBasedBuilder):
            VERSION = tfds.core.Version("1.0.0")
            name = f"made_up_{uuid.uuid4().hex}"  # it stays known to the library

            def _info(self):
                features = tfds.features.Translation(languages=("ja", "en"))
                return tfds.core.DatasetInfo(builder=self, features=features)

            def _split_generators(self, dl_manager):
                fetch(dl_manager)
                return {split: self._generate_examples()}

            def _generate_examples(self):
                for i, (ja, en) in enumerate(pairs):
                    yield i, {"ja": ja, "en": en}

        return MadeUp.name

    return translation_set


def pytest_terminal_summary(terminalreporter):
    """Seconds by folder, set-up included."""
    seconds = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[report.fspath.rpartition("/")[0]] += report.duration
    terminalreporter.section("seconds by folder")
    for folder, total in seconds.most_common():
        terminalreporter.line(f"{total:6.0f} {folder}")
    terminalreporter.line(f"{seconds.total():6.0f} in all processes")
