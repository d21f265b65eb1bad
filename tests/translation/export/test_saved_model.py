import dataclasses
import json
import shutil
import subprocess
import sys
from pathlib import Path

import keras
import pytest
import tensorflow as tf
from tensorflow_serving.apis import prediction_log_pb2

from keras_attn import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.export import saved_model
from keras_attn.translation.export.saved_model import export
from keras_attn.translation.export.translator import Translator
from keras_attn.translation.training.validation import translate_with
from keras_attn.translation.versions import CONFIG, EXTRA, newest_version


def test_graph_gives_what_the_model_gives_with_the_sentencepiece_package(
    tokenizers, config, tmp_path, make_model, texts
):
    greedy = dataclasses.replace(config, beam_size=1)
    translator = export(make_model(), tokenizers, greedy, tmp_path)
    expected = translate_with(make_model(), tokenizers, config)
    texts = [text for text in texts if "🙂" not in text and 0 < len(text.strip()) < 40]
    assert translator(texts) == expected(texts)


STORED = Path(__file__).parents[2] / "data" / "exported"


def test_signatures_are_those_of_stored_versions(folder):
    signatures = tf.saved_model.load(str(folder / "1")).signatures
    for path in STORED.glob("*[0-9].json"):
        for name, sides in json.loads(path.read_text(encoding="utf-8"))["signatures"].items():
            inputs = signatures[name].structured_input_signature[1]
            assert sorted(inputs) == sides["inputs"]
            assert set(sides["outputs"]) <= set(signatures[name].structured_outputs)


PLAIN_TENSORFLOW = (
    "import json, sys\n"
    "for name in ('keras_attn', 'keras', 'sentencepiece', 'tensorflow_text'):\n"
    "    sys.modules[name] = None  # as if they were not installed\n"
    "import tensorflow as tf\n"
)


def in_plain_tensorflow(code, *arguments):
    """JSON output of a process that can import TensorFlow only."""
    command = [sys.executable, "-c", PLAIN_TENSORFLOW + code, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


def test_exported_model_survives_a_move_and_a_process_without_the_package(folder, tmp_path, texts):
    expected = Translator.load(folder)(texts)
    moved = tmp_path / "another place" / "モデル"
    shutil.copytree(folder, moved)
    code = (
        "model = tf.saved_model.load(sys.argv[1])\n"
        "serve = model.signatures['serving_default']\n"
        "texts = json.loads(sys.argv[2])\n"
        "run = lambda t: [x.decode() for x in serve(text=tf.constant(t))['translation'].numpy()]\n"
        "print(json.dumps([run(texts), [run([t])[0] for t in texts]]))\n"
    )
    short = [text for text in texts if len(text) < 1000]
    together, alone = in_plain_tensorflow(code, moved / "1", json.dumps(short))
    assert together == alone == [e for e, t in zip(expected, texts, strict=True) if t in short]


@pytest.mark.slow
def test_weights_stay_on_the_processor_where_another_device_comes_first(folder, texts):
    # A second device of the processor in the place of a GPU.
    code = (
        "import json, sys\n"
        "import tensorflow as tf\n"
        "(cpu,) = tf.config.list_physical_devices('CPU')\n"
        "two = [tf.config.LogicalDeviceConfiguration()] * 2\n"
        "tf.config.set_logical_device_configuration(cpu, two)\n"
        "from keras_attn.translation import Translator\n"
        "with tf.device('CPU:1'):\n"
        "    translator = Translator.load(sys.argv[1])\n"
        "    made = tf.Variable(0.0)\n"
        "devices = {v.device[-5:] for v in translator._loaded.signatures['nbest'].variables}\n"
        "said = translator(json.loads(sys.argv[2]))\n"
        "print(json.dumps([made.device[-5:], sorted(devices), said]))\n"
    )
    command = [sys.executable, "-c", code, str(folder / "1"), json.dumps(texts)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    made, devices, said = json.loads(result.stdout.splitlines()[-1])
    assert made == "CPU:1" and devices == ["CPU:0"]
    assert said == Translator.load(folder)(texts)


def test_model_has_only_operations_that_tensorflow_has(folder):
    code = (
        "from tensorflow.python.framework import op_def_registry\n"
        "from tensorflow.core.protobuf import saved_model_pb2\n"
        "content = open(sys.argv[1] + '/1/saved_model.pb', 'rb').read()\n"
        "(graph,) = saved_model_pb2.SavedModel.FromString(content).meta_graphs\n"
        "graph = graph.graph_def\n"
        "nodes = [*graph.node, *(n for f in graph.library.function for n in f.node_def)]\n"
        "functions = {f.signature.name for f in graph.library.function}\n"
        "known = lambda name: name in functions or op_def_registry.get(name) is not None\n"
        "types = {node.op for node in nodes}\n"
        "print(json.dumps([len(types), [t for t in sorted(types) if not known(t)]]))\n"
    )
    num_types, unknown = in_plain_tensorflow(code, folder)
    assert num_types > 50 and unknown == []


def test_model_runs_in_a_session_as_model_servers_run_it(folder, texts):
    code = (
        "v1 = tf.compat.v1\n"
        "with v1.Session(graph=tf.Graph()) as session:\n"
        "    meta = v1.saved_model.load(session, ['serve'], sys.argv[1] + '/1')\n"
        "    signature = meta.signature_def['serving_default']\n"
        "    said = session.run(\n"
        "        signature.outputs['translation'].name,\n"
        "        {signature.inputs['text'].name: json.loads(sys.argv[2])},\n"
        "    )\n"
        "print(json.dumps([text.decode() for text in said]))\n"
    )
    short = [text for text in texts if len(text) < 1000]
    assert in_plain_tensorflow(code, folder, json.dumps(short)) == Translator.load(folder)(short)


def test_model_answers_its_warm_up_requests(folder):
    path = folder / "1" / "assets.extra" / "tf_serving_warmup_requests"
    loaded = tf.saved_model.load(str(folder / "1"))
    for record in tf.data.TFRecordDataset([str(path)]):
        log = prediction_log_pb2.PredictionLog.FromString(record.numpy())
        request = log.predict_log.request
        texts = tf.make_ndarray(request.inputs["text"])
        if len(texts) == 1:  # the others ask for the same, several times
            answer = loaded.signatures[request.model_spec.signature_name](text=tf.constant(texts))
            assert all(len(part) == 1 for part in answer.values())


def test_versions_count_up_and_the_newest_is_loaded(folder, tokenizers, config, make_model):
    second = export(make_model(), tokenizers, config, folder).folder
    assert second == folder / "2"
    assert newest_version(folder) == second
    assert Translator.load(folder / "1").folder == folder / "1"
    shutil.rmtree(second)


def test_version_folder_holds_the_model_its_tokenizers_and_its_configuration(
    folder, tokenizers, config
):
    version = newest_version(folder)
    assert Config.load(version / EXTRA / CONFIG) == config
    assert (version / EXTRA / "source.model").read_bytes() == tokenizers.source.proto
    assert (version / EXTRA / "target.model").read_bytes() == tokenizers.target.proto
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_failed_export_leaves_nothing_behind(tokenizers, config, tmp_path, monkeypatch, make_model):
    monkeypatch.setattr(Config, "save", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        export(make_model(), tokenizers, config, tmp_path)
    assert list(tmp_path.iterdir()) == []


def refuse_export(tokenizers, config, folder, model, monkeypatch, write_graph):
    """Export a model whose graph `write_graph(folder)` writes, and return the error."""
    monkeypatch.setattr(saved_model, "_write_graph", lambda *arguments: write_graph(arguments[-1]))
    with pytest.raises(ValueError, match="must translate a text before it becomes") as error:
        export(model, tokenizers, config, folder)
    assert list(folder.iterdir()) == []
    assert "\n" not in str(error.value) and str(folder) in str(error.value)
    return str(error.value)


def test_export_that_cannot_translate_is_no_version(
    tokenizers, config, tmp_path, make_model, monkeypatch
):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")])
    def fail(text):
        tf.debugging.assert_equal(tf.size(text), -1, "this never holds")
        return {"translation": text}

    def write_graph(folder):
        tf.saved_model.save(tf.Module(), str(folder), signatures={"serving_default": fail})

    arguments = (tokenizers, config, tmp_path, make_model(), monkeypatch, write_graph)
    assert "Received: InvalidArgumentError" in refuse_export(*arguments)


@pytest.mark.parametrize("pattern", ["variables/variables.data*", "saved_model.pb"])
def test_export_that_cannot_be_loaded_from_disk_is_no_version(
    folder, tokenizers, config, tmp_path, make_model, monkeypatch, pattern
):
    def write_a_part(aside):
        shutil.copytree(folder / "1", aside, dirs_exist_ok=True)
        (path,) = aside.glob(pattern)
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    refuse_export(tokenizers, config, tmp_path, make_model(), monkeypatch, write_a_part)


@keras.saving.register_keras_serializable("test_saved_model")
class Contrary(Transformer):
    """Transformer whose decoder sees the negative memory."""

    def call(self, inputs, training=None):
        source, target = inputs
        memory = -self.encoder(source, training=training)
        mask = self.encoder.compute_mask(source)
        return self.decoder(target, memory, memory_mask=mask, training=training)


def test_weights_that_are_not_finite_are_never_exported(tokenizers, config, tmp_path, make_model):
    model = make_model()
    model.decoder.block_0._self_attention._query_dense.kernel.assign_add([[float("inf")]])
    with pytest.raises(ValueError, match="inf or NaN in decoder/block_0/self_attention/query"):
        export(model, tokenizers, config, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_subclass_is_exported_as_it_is_written(tokenizers, config, tmp_path, pairs, make_model):
    plain = make_model()
    model = Contrary.from_config(plain.get_config())
    model.build(((None, None), (None, None)))
    model.set_weights(plain.get_weights())
    texts = [pair.source for pair in pairs]
    found = export(model, tokenizers, dataclasses.replace(config, beam_size=1), tmp_path)(texts)
    assert found == translate_with(model, tokenizers, config)(texts)
    assert found != translate_with(plain, tokenizers, config)(texts)


@pytest.mark.slow
def test_model_that_trained_in_bfloat16_is_exported_in_float32(
    tokenizers, config, tmp_path, pairs, make_model
):
    half = make_model("mixed_bfloat16")
    full = make_model()
    full.set_weights(half.get_weights())
    translator = export(half, tokenizers, dataclasses.replace(config, beam_size=1), tmp_path)
    expected = translate_with(full, tokenizers, config)
    texts = [pair.source for pair in pairs]
    assert translator(texts) == expected(texts)
