import dataclasses
import json
import shutil

import numpy as np
import pytest
import tensorflow as tf

from keras_attn.__main__ import main
from keras_attn.translation.decoding.search import Search
from keras_attn.translation.export.signatures import Signatures
from keras_attn.translation.export.translator import Translator
from keras_attn.translation.importing import marian, origin
from keras_attn.translation.importing.marian import import_marian
from keras_attn.translation.importing.weights import BANNED_BIAS
from keras_attn.translation.model import make_model
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID
from keras_attn.translation.training import warm_start
from keras_attn.translation.versions import EXTRA


@pytest.fixture(scope="module")
def exporting():
    """Model, tokenizers and configuration of the first import of these tests."""
    given = []
    export = marian.saved_model.export

    def remember(model, tokenizers, config, folder):
        given[:] = given or (model, tokenizers, config)
        return export(model, tokenizers, config, folder)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(marian.saved_model, "export", remember)
        yield given


@pytest.fixture(scope="module")
def imported(exporting, tiny, tmp_path_factory):
    """The tiny model as an exported version."""
    # The pair of languages has no list of example sentences, which would be translated.
    with pytest.warns(UserWarning, match="begin each text with one of: >>fra<<, >>eng<<"):
        return import_marian(tiny, tmp_path_factory.mktemp("imported"), target="fr")


def test_translations_are_those_of_transformers(imported, answers):
    assert imported(answers["sentences"]) == answers["beam_4"]
    assert "12" not in imported(["猫が12。"])[0]  # no placeholder, and no piece of the model


def test_greedy_translations_are_those_of_transformers(imported, exporting, answers):
    model, (source, target), config = exporting
    config = dataclasses.replace(config, beam_size=1)
    ids = tf.ragged.constant(source.encode(answers["sentences"]), tf.int32)
    ends = tf.fill([ids.nrows(), 1], EOS_ID)
    # In ascending order of length, as the search expects it.
    order = np.argsort(ids.row_lengths().numpy(), kind="stable")
    sources = tf.gather(tf.concat([ids, ends], axis=1), order).to_tensor(PAD_ID)
    found = Search(model, config)(sources).tokens[:, 0].numpy()
    said = target.decode([[i for i in row if i != PAD_ID] for row in found.tolist()])
    assert said == [answers["beam_1"][i] for i in order]


def test_logits_are_those_of_transformers(imported, exporting, tiny_files, answers):
    model, tokenizers, _ = exporting
    sides = zip(*answers["pairs"], strict=True)
    encoded = (one.encode(side) for one, side in zip(tokenizers, sides, strict=True))
    size = tiny_files[0]["vocab_size"]
    # Our order: padding, unknown, start, end, then the others as in the vocabulary.
    order = [size - 1, 1, size - 1, 0, *range(2, size - 1)]
    for source, target, expected in zip(*encoded, answers["logits"], strict=True):
        ids = [[*source, EOS_ID]], [[BOS_ID, *target]]
        logits = np.asarray(model(tuple(map(np.array, ids))))[0]
        expected = np.array(expected)[:, order]
        kept = [i for i in range(size + 1) if i != BOS_ID]
        np.testing.assert_allclose(logits[:, kept], expected[:, kept], atol=1e-4)
        assert (logits[:, BOS_ID] < BANNED_BIAS / 2).all()


@pytest.mark.slow  # traced and compiled once more
def test_a_language_token_may_be_the_default(imported, exporting):
    model, tokenizers, config = exporting
    config = dataclasses.replace(config, language_token=">>fra<<")
    texts = ["青い机が上にある。", ">>eng<<青い机が上にある。"]
    translations = ["The box.", "The box."]
    signatures = Signatures(model, tokenizers, config)
    found = signatures.score(tf.constant(texts), tf.constant(translations))["log_probability"]
    expected = imported.score([f">>fra<<{texts[0]}", texts[1]], translations)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert found[0] != found[1]


@pytest.mark.filterwarnings("ignore:The model has several target languages")
@pytest.mark.slow  # exports once more
def test_weights_are_half_the_size_in_bfloat16(tiny, imported, tmp_path):
    command_line = ["import-marian", str(tiny), str(tmp_path), "--target", "fr"]
    assert not main([*command_line, "--serving-precision", "bfloat16"])
    half = Translator.load(tmp_path)
    sizes = [
        (one.folder / "variables" / "variables.data-00000-of-00001").stat().st_size
        for one in (half, imported)
    ]
    assert 0.4 < sizes[0] / sizes[1] < 0.6
    texts = ["青い机が上にある。", ">>eng<<青い机が上にある。"]
    scores = [one.score(texts, ["The box.", "The box."]) for one in (half, imported)]
    np.testing.assert_allclose(*scores, rtol=0.05)


def test_a_training_keeps_weights_search_and_origin_of_the_model(imported, exporting, tmp_path):
    folder, fields = warm_start.inherit(start_from=str(imported.folder))
    assert (fields["beam_size"], fields["length_penalty_offset"]) == (4, 0.0)
    assert fields["share_embeddings"] and fields["position"] == "sinusoidal_halves"
    (tmp_path / EXTRA).mkdir()
    warm_start.copy_origin(folder, tmp_path)
    for name in ("origin.json", "origin/README.md"):
        kept = (tmp_path / EXTRA / name).read_bytes()
        assert kept == (imported.folder / EXTRA / name).read_bytes()
    model, tokenizers, config = exporting
    other = make_model(*(one.vocab_size for one in tokenizers), config)
    warm_start.copy_weights(folder, other)
    ids = np.array([[5, 9, EOS_ID]]), np.array([[2, 7]])
    np.testing.assert_array_equal(other(ids), model(ids))


def test_licence_and_citation_are_shown_and_kept(imported, tiny, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(Translator, "load", lambda path: imported)
    assert main(["inspect", str(imported.folder)]) == 0
    said = capsys.readouterr().out
    assert "origin, name: tiny\norigin, licence: apache-2.0\norigin, citation: @misc{tiny," in said
    card = (imported.folder / "README.md").read_text(encoding="utf-8")
    assert "Licence of the model: apache-2.0." in card and "@misc{tiny," in card
    assert "`((0 + pieces) / 1)^1.0`" in card
    kept = imported.folder / EXTRA / "origin" / "README.md"
    assert kept.read_bytes() == (tiny / "README.md").read_bytes()
    assert origin.of_folder(tmp_path) == (tmp_path.name, "", "")
    assert origin.of_folder(tiny, "us/tiny-ja-en").name == "us/tiny-ja-en"


@pytest.mark.parametrize(
    ("file", "change", "reason"),
    [
        ("vocab.json", None, "There is no `vocab.json`"),
        ("source.spm", None, "There is no `source.spm`"),
        ("generation_config.json", {"eos_token_id": 3}, "`eos_token_id` of"),
        ("config.json", {"d_model": 8}, "must have the shapes of the model"),
        ("tokenizer_config.json", {"source_lang": None}, "`source` and `target` must be"),
        ("target.spm", "cut", "a file is cut off"),
    ],
)
def test_folders_that_are_no_model_are_named_in_one_sentence(
    tiny, tmp_path, capsys, file, change, reason
):
    folder = tmp_path / "model"
    shutil.copytree(tiny, folder)
    path = folder / file
    if change is None:
        path.unlink()
    elif isinstance(change, dict):
        path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    else:
        path.write_bytes(path.read_bytes()[:-7])
    assert main(["import-marian", str(folder), str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err.splitlines()[-1]  # after a warning of several target languages
    assert said.startswith("error: ") and reason in said
    assert not (tmp_path / "out").exists()


def test_a_language_token_must_be_one_of_the_model(tiny, tmp_path):
    with pytest.raises(ValueError, match=r"one of .*: >>fra<<, >>eng<<\. Received: .*'>>x<<'"):
        import_marian(tiny, tmp_path, language_token=">>x<<")
