import dataclasses
import json
import shutil

import numpy as np
import pytest
import tensorflow as tf

from keras_attn.translation import __main__ as command
from keras_attn.translation import named_weights
from keras_attn.translation.decoding.search import best_translations
from keras_attn.translation.export.signatures import Signatures
from keras_attn.translation.importing.marian import import_marian
from keras_attn.translation.model import make_model
from keras_attn.translation.special_ids import EOS_ID, PAD_ID
from keras_attn.translation.tokenization.tokenizer import Tokenizer, Tokenizers
from keras_attn.translation.training import warm_start
from keras_attn.translation.versions import EXTRA


@pytest.fixture(scope="module")
def parts(imported):
    """Tokenizers and model of the exported version."""
    paths = (imported.folder / EXTRA / f"{name}.model" for name in Tokenizers._fields)
    tokenizers = Tokenizers(*map(Tokenizer.load, paths))
    model = make_model(*(one.vocab_size for one in tokenizers), imported.config)
    named_weights.assign(model.weights, named_weights.of_version(imported.folder))
    return tokenizers, model


def test_translations_are_those_of_transformers(imported, answers):
    assert imported(answers["sentences"]) == answers["beam_4"]
    assert imported(answers["sentences"][:1]) == answers["beam_4"][:1]  # by XLA


def test_greedy_translations_are_those_of_transformers(imported, answers, parts):
    (source, target), model = parts
    config = dataclasses.replace(imported.config, beam_size=1)
    ids = tf.ragged.constant(source.encode(answers["sentences"]), tf.int32)
    ends = tf.fill([ids.nrows(), 1], EOS_ID)
    # In ascending order of length, as the search expects it.
    order = np.argsort(ids.row_lengths().numpy(), kind="stable")
    sources = tf.gather(tf.concat([ids, ends], axis=1), order).to_tensor(PAD_ID)
    found = best_translations(model, sources, config).tokens[:, 0].numpy()
    said = target.decode([[i for i in row if i != PAD_ID] for row in found.tolist()])
    assert said == [answers["beam_1"][i] for i in order]


@pytest.mark.slow  # traced and compiled once more
def test_a_language_token_may_be_the_default(imported, parts):
    tokenizers, model = parts
    config = dataclasses.replace(imported.config, language_token=">>fra<<")
    texts = ["青い机が上にある。", ">>eng<<青い机が上にある。"]
    translations = ["The box.", "The box."]
    signatures = Signatures(model, tokenizers, config)
    found = signatures.score(tf.constant(texts), tf.constant(translations))["log_probability"]
    expected = imported.score([f">>fra<<{texts[0]}", texts[1]], translations)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert found[0] != found[1]


def test_a_training_keeps_tokenizers_and_search_of_the_model(imported, parts, tmp_path):
    folder, fields = warm_start.inherit(start_from=str(imported.folder))
    assert (fields["beam_size"], fields["length_penalty_offset"]) == (4, 0.0)
    assert fields["share_embeddings"] and fields["position"] == "sinusoidal_halves"
    warm_start.copy_tokenizers(folder, tmp_path)
    for name, tokenizer in zip(Tokenizers._fields, parts[0], strict=True):
        assert (tmp_path / f"{name}.model").read_bytes() == tokenizer.proto
    (tmp_path / EXTRA).mkdir()
    warm_start.copy_origin(folder, tmp_path)
    for name in ("origin.json", "origin/README.md"):
        kept = (tmp_path / EXTRA / name).read_bytes()
        assert kept == (imported.folder / EXTRA / name).read_bytes()
    _, model = parts
    other = make_model(*(one.vocab_size for one in parts[0]), imported.config)
    warm_start.copy_weights(folder, other)
    ids = np.array([[5, 9, EOS_ID]]), np.array([[2, 7]])
    np.testing.assert_array_equal(other(ids), model(ids))


def test_licence_and_citation_are_shown(imported, capsys):
    assert command.main(["inspect", str(imported.folder)]) == 0
    said = capsys.readouterr().out
    assert "origin, name: tiny\norigin, licence: apache-2.0\norigin, citation: @misc{tiny," in said
    card = (imported.folder / "README.md").read_text(encoding="utf-8")
    assert "Licence of the model: apache-2.0." in card and "@misc{tiny," in card
    assert "`((0 + pieces) / 1)^1.0`" in card


# A file of the folder, what is done to it, and what is said of it.
FAULTS = [
    ("config.json", None, "There is no `config.json`"),
    ("source.spm", None, "There is no `source.spm`"),
    ("model.safetensors", None, "There is no `model.safetensors`"),
    ("config.json", {"model_type": "t5"}, "model_type='t5'"),
    ("generation_config.json", {"eos_token_id": 3}, "`eos_token_id` of"),
    ("config.json", {"d_model": 8}, "must have the shapes of the model"),
    ("tokenizer_config.json", {"source_lang": None}, "`source` and `target` must be"),
    ("vocab.json", {"more": 120}, "a token for each row of the embeddings"),
    ("model.safetensors", -7, "model.safetensors` is cut off"),
    ("target.spm", -7, "a file is cut off"),
    ("vocab.json", -7, "vocab.json` must be a file of JSON"),
]


def test_folders_that_are_no_model_are_named_in_one_sentence(tiny, tmp_path, capsys):
    for number, (name, change, reason) in enumerate(FAULTS):
        folder, out = tmp_path / str(number), tmp_path / "out"
        shutil.copytree(tiny, folder)
        path = folder / name
        content = path.read_bytes()
        if isinstance(change, dict):
            path.write_text(json.dumps({**json.loads(content), **change}))
        elif change:
            path.write_bytes(content[:change])
        else:
            path.unlink()
        assert command.main(["import-marian", str(folder), str(out)]) == 2, reason
        said = capsys.readouterr().err.splitlines()[-1]  # after a warning of several languages
        assert said.startswith("error: ") and reason in said
        assert not out.exists()


def test_a_language_token_must_be_one_of_the_model(tiny, tmp_path):
    with pytest.raises(ValueError, match=r"one of .*: >>fra<<, >>eng<<\. Received: .*'>>x<<'"):
        import_marian(tiny, tmp_path, language_token=">>x<<")
