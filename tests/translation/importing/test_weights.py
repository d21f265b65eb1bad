import numpy as np
import pytest

from keras_attn.translation import named_weights
from keras_attn.translation.importing import configuration, folder, weights
from keras_attn.translation.importing.weights import NEVER
from keras_attn.translation.model import make_model
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID, UNK_ID


@pytest.fixture(scope="module")
def given(tiny):
    return folder.read_json(tiny, "config.json"), folder.read_weights(tiny)


def rows(size):
    """Rows of our ids: those of padding, unknown, start and end, then the others."""
    return np.array([size - 1, 1, size - 1, 0, *range(2, size - 1)])


def converted(given, generation=None, others=None, **changes):
    config, values = given
    settings = configuration.Settings({**config, **changes}, generation or {})
    size = config["vocab_size"]
    found = weights.convert({**values, **(others or {})}, settings, rows(size), rows(size))
    model = make_model(size + 1, size + 1, configuration.to_config(settings, 1, "ja", "en", ""))
    named_weights.assign(model.weights, found)
    return model


def test_logits_are_those_of_transformers(given, imported, answers):
    (source, _), (target, _) = (
        (one.encode(side), side)
        for one, side in zip(
            tokenizers_of(imported), zip(*answers["pairs"], strict=True), strict=True
        )
    )
    model = make_model(*(one.vocab_size for one in tokenizers_of(imported)), imported.config)
    named_weights.assign(model.weights, named_weights.of_version(imported.folder))
    order = np.argsort(rows(given[0]["vocab_size"])[[PAD_ID, UNK_ID, EOS_ID]])
    assert order.tolist() == [2, 1, 0]
    for source_ids, target_ids, expected in zip(source, target, answers["logits"], strict=True):
        ids = [[*source_ids, EOS_ID]], [[BOS_ID, *target_ids]]
        logits = np.asarray(model(tuple(map(np.array, ids))))[0]
        # Our order: padding, unknown, start, end, then the others as in the vocabulary.
        expected = np.array(expected)[:, rows(given[0]["vocab_size"])]
        kept = [i for i in range(logits.shape[1]) if i != BOS_ID]
        np.testing.assert_allclose(logits[:, kept], expected[:, kept], atol=1e-4)
        assert (logits[:, BOS_ID] < NEVER / 2).all()


def tokenizers_of(translator):
    from keras_attn.translation.tokenization.tokenizer import Tokenizer
    from keras_attn.translation.versions import EXTRA

    return [
        Tokenizer.load(translator.folder / EXTRA / f"{side}.model") for side in ("source", "target")
    ]


def test_banned_ids_are_left_out_of_renormalised_probabilities(given):
    banned = {"bad_words_ids": [[given[0]["pad_token_id"]], [7]], "renormalize_logits": True}
    bias = named_weights.of_model(converted(given, banned))["decoder/logits_bias"]
    is_banned = np.isin(np.arange(len(bias)), [PAD_ID, BOS_ID, EOS_ID + 6])
    assert (bias[is_banned] == NEVER).all() and (bias[~is_banned] > NEVER / 2).all()
    banned["renormalize_logits"] = False
    bias = named_weights.of_model(converted(given, banned))["decoder/logits_bias"]
    assert bias[PAD_ID] > NEVER / 2 and bias[EOS_ID + 6] == NEVER


def test_logits_may_have_a_matrix_and_embeddings_may_be_apart(given):
    config, values = given
    table = values["model.shared.weight"]
    others = {
        "model.encoder.embed_tokens.weight": table,
        "model.decoder.embed_tokens.weight": 2 * table,
        "lm_head.weight": 3 * table,
    }
    apart = {"share_encoder_decoder_embeddings": False}
    del values["model.shared.weight"]
    try:
        model = converted(given, None, others, **apart, tie_word_embeddings=False)
        found = named_weights.of_model(model)
        order = rows(config["vocab_size"])
        np.testing.assert_allclose(found["encoder/embedding/tokens/embeddings"], table[order])
        np.testing.assert_allclose(found["decoder/embedding/tokens/embeddings"], 2 * table[order])
        np.testing.assert_allclose(found["decoder/logits/kernel"], 3 * table[order].T)
    finally:
        values["model.shared.weight"] = table


def test_weights_of_another_model_are_refused(given):
    with pytest.raises(ValueError, match="those of `config.json`. Received: no model.decoder.lay"):
        converted(given, decoder_layers=2)
    config, values = given
    settings = configuration.Settings(config, {})
    with pytest.raises(ValueError, match="a token for each row of the embeddings. Received: 9 tok"):
        weights.convert(values, settings, rows(9), rows(9))
    without = {name: one for name, one in values.items() if "shared" not in name}
    with pytest.raises(ValueError, match="must have embeddings. Received: no 'model.shared"):
        weights.convert(without, settings, rows(9), rows(9))
