import dataclasses
import json
import shutil
from pathlib import Path

import pytest
import tensorflow as tf
from processes import run_python
from shared_translator import CONFIG, PAIRS
from tensorflow_serving.apis import prediction_log_pb2

from keras_attn.translation.config import Config
from keras_attn.translation.export import saved_model
from keras_attn.translation.export.saved_model import export
from keras_attn.translation.training.validation import translate_with
from keras_attn.translation.versions import EXTRA, newest_version

GREEDY = dataclasses.replace(CONFIG, beam_size=1)
STORED = Path(__file__).parents[2] / "data" / "exported"


def test_signatures_are_those_of_stored_versions(translator):
    signatures = translator._loaded.signatures
    for path in STORED.glob("*[0-9].json"):
        for name, sides in json.loads(path.read_text(encoding="utf-8"))["signatures"].items():
            inputs = signatures[name].structured_input_signature[1]
            assert sorted(inputs) == sides["inputs"]
            assert set(sides["outputs"]) <= set(signatures[name].structured_outputs)


IN_PLAIN_TENSORFLOW = """
import json, sys
for name in ("keras_attn", "keras", "sentencepiece", "tensorflow_text"):
    sys.modules[name] = None  # as if they were not installed
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow.python.framework import op_def_registry

version, texts = sys.argv[1], json.loads(sys.argv[2])
"""
LOADED = """
serve = tf.saved_model.load(version).signatures["serving_default"]
found = serve(text=tf.constant(texts))["translation"].numpy()

content = open(version + "/saved_model.pb", "rb").read()
(graph,) = saved_model_pb2.SavedModel.FromString(content).meta_graphs
graph = graph.graph_def
functions = {f.signature.name for f in graph.library.function}
nodes = [*graph.node, *(n for f in graph.library.function for n in f.node_def)]
types = {node.op for node in nodes} - functions
assert len(types) > 50 and None not in map(op_def_registry.get, types)
"""
AS_MODEL_SERVERS_DO = """
v1 = tf.compat.v1
with v1.Session(graph=tf.Graph()) as session:
    meta = v1.saved_model.load(session, ["serve"], version)
    signature = meta.signature_def["serving_default"]
    name = signature.inputs["text"].name
    found = session.run(signature.outputs["translation"].name, {name: texts})
"""
PRINTED = "print(json.dumps([text.decode() for text in found.tolist()]))"


def ran(code, version, texts):
    """The last line that another process prints, read as JSON."""
    ended = run_python("-c", code, version, json.dumps(texts))
    return json.loads(ended.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    "run",
    [LOADED, pytest.param(AS_MODEL_SERVERS_DO, marks=pytest.mark.slow)],
    ids=["loaded", "as model servers do"],
)
def test_a_moved_model_answers_in_a_process_with_tensorflow_alone(
    translator, exported, tmp_path, texts, run
):
    moved = tmp_path / "another place" / "モデル"
    shutil.copytree(exported, moved)
    assert ran(IN_PLAIN_TENSORFLOW + run + PRINTED, moved / "1", texts) == translator(texts)


# A second device of the processor in the place of a GPU.
BESIDE_ANOTHER_DEVICE = """
import json, sys
import tensorflow as tf
(cpu,) = tf.config.list_physical_devices("CPU")
two = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(cpu, two)
from keras_attn.translation import Translator
with tf.device("CPU:1"):
    translator = Translator.load(sys.argv[1])
    assert "CPU:1" in tf.Variable(0.0).device
devices = {v.device[-5:] for v in translator._loaded.signatures["nbest"].variables}
print(json.dumps([*devices, translator(json.loads(sys.argv[2]))]))
"""


@pytest.mark.slow
def test_weights_stay_on_the_processor_where_another_device_comes_first(
    translator, exported, texts
):
    assert ran(BESIDE_ANOTHER_DEVICE, exported / "1", texts) == ["CPU:0", translator(texts)]


@pytest.mark.slow
def test_model_answers_its_warm_up_requests(translator, exported):
    path = exported / "1" / EXTRA / "tf_serving_warmup_requests"
    for record in tf.data.TFRecordDataset([str(path)]):
        request = prediction_log_pb2.PredictionLog.FromString(record.numpy()).predict_log.request
        inputs = {name: tf.make_ndarray(value) for name, value in request.inputs.items()}
        answer = translator._loaded.signatures[request.model_spec.signature_name](**inputs)
        if "text" in inputs:
            assert {len(part) for part in answer.values()} == {len(inputs["text"])}


def test_version_folder_holds_the_model_its_tokenizers_and_its_configuration(exported, tokenizers):
    extra = newest_version(exported) / EXTRA
    assert Config.load(extra / "config.json") == CONFIG
    assert (extra / "source.model").read_bytes() == tokenizers.source.proto
    assert (extra / "target.model").read_bytes() == tokenizers.target.proto
    assert not [path for path in exported.iterdir() if path.name.startswith(".")]


@pytest.fixture
def export_of(tokenizers, make_model, tmp_path, monkeypatch):
    """`export_of(change, most)`: exports a model that echoes up to `most` texts.

    `change(folder)` is done to its files before it is a version.
    """

    def export_of(change=lambda folder: None, most=100):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")])
        def echo(text):
            tf.debugging.assert_less(tf.size(text), most + 1)
            return {"translation": text}

        def write_graph(model, tokenizers, config, folder, *rest):
            module = tf.Module()
            module.table = tf.Variable(tf.zeros([1000]))
            tf.saved_model.save(module, str(folder), signatures={"serving_default": echo})
            change(folder)

        monkeypatch.setattr(saved_model, "_write_graph", write_graph)
        return export(make_model(), tokenizers, CONFIG, tmp_path)

    return export_of


def test_versions_count_up_and_the_newest_is_loaded(export_of, tmp_path):
    (tmp_path / "1").mkdir()
    second = export_of().folder
    assert second == newest_version(tmp_path) == tmp_path / "2"
    assert second.stat().st_mode & 0o777 == 0o755


def test_failed_export_leaves_nothing_behind(export_of, tmp_path, monkeypatch):
    def cut(path):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    for options, reason in (
        ({"most": 0}, "InvalidArgumentError"),
        ({"change": lambda folder: cut(folder / "saved_model.pb")}, ""),
        ({"change": lambda folder: cut(*folder.glob("variables/variables.data*"))}, ""),
    ):
        with pytest.raises(ValueError, match="must translate a text before it becomes") as error:
            export_of(**options)
        assert "\n" not in str(error.value) and str(tmp_path) in str(error.value)
        assert f"Received: {reason}" in str(error.value)
        assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(Config, "save", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        export_of()
    assert list(tmp_path.iterdir()) == []


def test_weights_that_are_not_finite_are_never_exported(tokenizers, tmp_path, make_model):
    model = make_model()
    model.decoder.block_0._self_attention._query_dense.kernel.assign_add([[float("inf")]])
    with pytest.raises(ValueError, match="inf or NaN in decoder/block_0/self_attention/query"):
        export(model, tokenizers, CONFIG, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_what_is_exported_is_in_float32(tokenizers, tmp_path, make_model):
    half, plain = make_model("bfloat16"), make_model()
    plain.set_weights(half.get_weights())
    texts = [pair.source for pair in PAIRS]
    of_plain = translate_with(plain, tokenizers, GREEDY)(texts)
    assert export(half, tokenizers, GREEDY, tmp_path)(texts) == of_plain
