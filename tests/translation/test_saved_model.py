import dataclasses
import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
from tensorflow_serving.apis import prediction_log_pb2

from keras_attn import Transformer
from keras_attn.translation import tokenizer
from keras_attn.translation.cleaning import Pair
from keras_attn.translation.config import Config
from keras_attn.translation.forced import log_probabilities
from keras_attn.translation.saved_model import CONFIG, EXTRA, Translator, export, newest_version
from keras_attn.translation.tokenizer import EOS_ID
from keras_attn.translation.validation import translate_with

# Sentences written for this test.
PAIRS = [
    Pair("猫が窓のそばで寝ている。", "A cat is sleeping by the window."),
    Pair("明日は早く起きます。", "I will get up early tomorrow."),
    Pair("この道は駅まで続く。", "This road leads to the station."),
    Pair("友達に手紙を書いた。", "I wrote a letter to my friend."),
    Pair("雨なので傘が要ります。", "It is raining, so you need an umbrella."),
]
TEXTS = [
    "猫が手紙を書いた。",
    "",
    "🙂👩‍👩‍👧",
    "ほげ鬱龘ﾊﾝｶｸＡＢＣ",
    "駅" * 10_000,
    "明日は雨なので早く起きます。",
    "   ",
]


def make_model(tokenizers, dtype="float32"):
    model = Transformer.from_sizes(
        tokenizers.source.vocab_size,
        tokenizers.target.vocab_size,
        1,
        1,
        num_hiddens=16,
        ffn_num_hiddens=16,
        num_heads=2,
        dtype=dtype,
    )
    model((np.ones((1, 1), int), np.ones((1, 1), int)))
    random = np.random.default_rng(2)
    # Strong weights and no training: translations are nonsense that differs from text to text,
    # and the same for every model made here. Scales of the normalisations stay around 1.
    model.set_weights([(w == 1) + random.normal(0, 0.5, w.shape) for w in model.get_weights()])
    return model


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizers")
    return tokenizer.load_or_train(folder, PAIRS, Config(vocab_size=400))


@pytest.fixture(scope="module")
def config():
    return Config(max_pieces=40)


@pytest.fixture(scope="module")
def folder(tokenizers, config, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "ja-en"
    export(make_model(tokenizers), tokenizers, config, folder)
    return folder


def test_same_strings_alone_and_in_a_batch_and_empty_stays_empty(folder):
    translator = Translator.load(folder)
    together = translator(TEXTS)
    assert together == [translator([text])[0] for text in TEXTS]
    assert together == translator(TEXTS, batch_size=3)
    assert together[1] == together[6] == ""
    assert len({*together}) >= 4


def test_graph_gives_what_the_model_gives_with_the_sentencepiece_package(
    tokenizers, config, tmp_path
):
    greedy = dataclasses.replace(config, beam_size=1)
    export(make_model(tokenizers), tokenizers, greedy, tmp_path)
    expected = translate_with(make_model(tokenizers), tokenizers, config)
    texts = [text for text in TEXTS if text.strip() and len(text) < config.max_pieces]
    assert Translator.load(tmp_path)(texts) == expected(texts)


def test_nbest_begins_with_the_translation_and_its_scores_fall(folder, config):
    translator = Translator.load(folder)
    found = translator.nbest(TEXTS)
    assert [row[0].translation for row in found] == translator(TEXTS)
    for text, row in zip(TEXTS, found, strict=True):
        scores = [hypothesis.score for hypothesis in row]
        assert scores == sorted(scores, reverse=True)
        assert len(row) == config.beam_size
        if text.strip():
            assert scores[0] < 0


def test_score_is_the_log_probability_of_the_pieces_of_both_sides(folder, tokenizers):
    model = make_model(tokenizers)
    texts, translations = zip(*PAIRS, strict=True)
    found = Translator.load(folder).score(texts, translations)
    for text, translation, score in zip(texts, translations, found, strict=True):
        source, target = (
            tf.constant([[*side.encode([line])[0], EOS_ID]])
            for side, line in zip(tokenizers, (text, translation), strict=True)
        )
        assert score == pytest.approx(float(log_probabilities(model, source, target)[0]), rel=1e-3)
    with pytest.raises(ValueError, match="one translation for each text. Received: 1 for 5"):
        Translator.load(folder).score(texts, ["a"])


def test_samples_follow_from_their_seed(folder):
    translator = Translator.load(folder)
    texts = ["猫が手紙を書いた。", ""]
    first = translator.sample(texts, seed=1)
    assert first == translator.sample(texts, seed=1)
    assert first[1] == ""
    assert len({translator.sample(texts, seed=seed)[0] for seed in range(4)}) > 1
    for wrong in ({"temperature": 0}, {"top_p": 0}, {"top_p": 1.5}, {"top_k": -1}):
        ((name, value),) = wrong.items()
        with pytest.raises(ValueError, match=f"`{name}` must be .* Received: {name}={value}"):
            translator.sample(texts, seed=1, **wrong)


def test_attention_has_a_row_for_each_piece_said_and_a_column_for_each_piece_read(
    folder, tokenizers
):
    translator = Translator.load(folder)
    text = "猫が手紙を書いた。"
    seen = translator.attend(text)
    assert seen.translation == translator([text])[0]
    assert "".join(seen.source_pieces[:-1]).replace("▁", "") == text
    assert seen.source_pieces[-1] == seen.target_pieces[-1] == "</s>"
    assert seen.weights.shape == (1, 2, len(seen.target_pieces), len(seen.source_pieces))
    np.testing.assert_allclose(seen.weights.sum(-1), 1, rtol=1e-5)


def test_long_text_is_translated_sentence_by_sentence(folder):
    translator = Translator.load(folder)
    sentences = [pair.source for pair in PAIRS]
    long = "".join(sentences * 2)
    assert translator([long]) == [" ".join(translator(sentences) * 2)]


PLAIN_TENSORFLOW = (
    "import json, sys\n"
    "for name in ('keras_attn', 'keras', 'sentencepiece', 'tensorflow_text'):\n"
    "    sys.modules[name] = None  # as if they were not installed\n"
    "import tensorflow as tf\n"
)


def in_plain_tensorflow(code, *arguments):
    """What a process prints, as JSON, that can import nothing but TensorFlow."""
    command = [sys.executable, "-c", PLAIN_TENSORFLOW + code, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


def test_exported_model_survives_a_move_and_a_process_without_the_package(folder, tmp_path):
    expected = Translator.load(folder)(TEXTS)
    moved = tmp_path / "another place" / "モデル"
    shutil.copytree(folder, moved)
    code = (
        "model = tf.saved_model.load(sys.argv[1])\n"
        "serve = model.signatures['serving_default']\n"
        "texts = json.loads(sys.argv[2])\n"
        "run = lambda t: [x.decode() for x in serve(text=tf.constant(t))['translation'].numpy()]\n"
        "print(json.dumps([run(texts), [run([t])[0] for t in texts]]))\n"
    )
    short = [text for text in TEXTS if len(text) < 1000]
    together, alone = in_plain_tensorflow(code, moved / "1", json.dumps(short))
    assert together == alone == [e for e, t in zip(expected, TEXTS, strict=True) if t in short]


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


def test_model_runs_in_a_session_as_model_servers_run_it(folder):
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
    short = [text for text in TEXTS if len(text) < 1000]
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


def test_no_texts_give_no_translations(folder):
    assert Translator.load(folder)([]) == []


def test_a_string_instead_of_a_list_is_refused(folder):
    with pytest.raises(ValueError, match="`texts` must be a list of strings"):
        Translator.load(folder)("猫")


def test_lone_surrogates_do_not_stop_a_batch(folder):
    assert len(Translator.load(folder)(["\ud800", "猫"])) == 2


def test_versions_count_up_and_the_newest_is_loaded(folder, tokenizers, config):
    second = export(make_model(tokenizers), tokenizers, config, folder)
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


def test_failed_export_leaves_nothing_behind(tokenizers, config, tmp_path, monkeypatch):
    monkeypatch.setattr(Config, "save", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        export(make_model(tokenizers), tokenizers, config, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_model_that_trained_in_bfloat16_is_exported_in_float32(tokenizers, config, tmp_path):
    half = make_model(tokenizers, "mixed_bfloat16")
    full = make_model(tokenizers)
    full.set_weights(half.get_weights())
    export(half, tokenizers, dataclasses.replace(config, beam_size=1), tmp_path)
    expected = translate_with(full, tokenizers, config)
    texts = [pair.source for pair in PAIRS]
    assert Translator.load(tmp_path)(texts) == expected(texts)


def test_model_of_another_version_is_refused(folder, tmp_path):
    shutil.copytree(folder / "1", tmp_path / "1")
    path = tmp_path / "1" / EXTRA / CONFIG
    record = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**record, "format_version": 0}), encoding="utf-8")
    with pytest.raises(ValueError, match="written by another version of keras_attn"):
        Translator.load(tmp_path)


def test_places_without_a_model_are_refused(tmp_path):
    with pytest.raises(ValueError, match="must be a folder that `train.py` wrote"):
        Translator.load(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="There is no exported model in the folder"):
        Translator.load(tmp_path)
    (tmp_path / "3").mkdir()
    with pytest.raises(ValueError, match="holds no translator"):
        Translator.load(tmp_path)
