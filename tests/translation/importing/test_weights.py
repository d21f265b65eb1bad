import numpy as np
import pytest

from keras_attn.translation import named_weights
from keras_attn.translation.importing import configuration, weights
from keras_attn.translation.importing.weights import BANNED_BIAS
from keras_attn.translation.model import make_model
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID


def rows(size):
    """Rows of our ids: those of padding, unknown, start and end, then the others."""
    return np.array([size - 1, 1, size - 1, 0, *range(2, size - 1)])


@pytest.fixture
def converted(tiny_files):
    """`converted(values, generation, **changes)`: the weights of the model by path.

    Values that are None are left out.
    """
    config, _, known = tiny_files

    def converted(values=None, generation=None, num_tokens=config["vocab_size"], **changes):
        settings = configuration.MarianConfig({**config, **changes}, generation or {})
        given = {name: one for name, one in {**known, **(values or {})}.items() if one is not None}
        found = weights.convert(given, settings, rows(num_tokens), rows(num_tokens))
        size = config["vocab_size"] + 1
        model = make_model(
            size, size, configuration.to_config(settings, 1, source="ja", target="en")
        )
        named_weights.assign(model.weights, found)
        return named_weights.of_model(model)

    return converted


def test_banned_ids_are_left_out_of_renormalised_probabilities(converted, tiny_files):
    banned = {"bad_words_ids": [[tiny_files[0]["pad_token_id"]], [7]], "renormalize_logits": True}
    bias = converted(generation=banned)["decoder/logits_bias"]
    is_banned = np.isin(np.arange(len(bias)), [PAD_ID, BOS_ID, EOS_ID + 6])
    assert (bias[is_banned] == BANNED_BIAS).all() and (bias[~is_banned] > BANNED_BIAS / 2).all()
    banned["renormalize_logits"] = False
    bias = converted(generation=banned)["decoder/logits_bias"]
    assert bias[PAD_ID] > BANNED_BIAS / 2 and bias[EOS_ID + 6] == BANNED_BIAS


def test_logits_may_have_a_matrix_and_embeddings_may_be_apart(converted, tiny_files):
    config, _, values = tiny_files
    table = values["model.shared.weight"]
    found = converted(
        {
            "model.shared.weight": None,
            "model.encoder.embed_tokens.weight": table,
            "model.decoder.embed_tokens.weight": 2 * table,
            "lm_head.weight": 3 * table,
        },
        share_encoder_decoder_embeddings=False,
        tie_word_embeddings=False,
    )
    table = table[rows(config["vocab_size"])]
    np.testing.assert_allclose(found["encoder/embedding/tokens/embeddings"], table)
    np.testing.assert_allclose(found["decoder/embedding/tokens/embeddings"], 2 * table)
    np.testing.assert_allclose(found["decoder/logits/kernel"], 3 * table.T)


def test_weights_of_another_model_are_refused(converted):
    with pytest.raises(ValueError, match="those of this model. Received: missing model.dec"):
        converted(decoder_layers=2)
    with pytest.raises(ValueError, match="a token for each row of the embeddings. Received: 9 tok"):
        converted(num_tokens=9)
    with pytest.raises(ValueError, match="must have embeddings. Received: no 'model.shared"):
        converted({"model.shared.weight": None})
