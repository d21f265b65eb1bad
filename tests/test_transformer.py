import keras
import numpy as np
import pytest
from keras import ops

from keras_attn import Decoder, Encoder, Transformer

SOURCE = np.array([[3, 7, 5, 0], [2, 4, 6, 8]])
TARGET = np.array([[2, 5, 9], [2, 6, 0]])


@pytest.fixture(scope="module")
def model():
    return Transformer.from_sizes(
        11, 13, 2, 1, num_hiddens=6, ffn_num_hiddens=7, num_heads=3, dropout=0.2
    )


def test_logits_are_those_of_encoder_and_decoder(model):
    memory = model.encoder(SOURCE)
    expected = model.decoder(TARGET, memory, memory_mask=SOURCE != 0)
    np.testing.assert_allclose(model((SOURCE, TARGET)), expected, atol=1e-6)
    assert expected.shape == (2, 3, 13)


def test_source_padding_changes_nothing(model):
    padded = np.pad(SOURCE, ((0, 0), (0, 3)))
    np.testing.assert_allclose(model((padded, TARGET)), model((SOURCE, TARGET)), atol=1e-5)


def test_config_round_trip_gives_the_same_answers(model):
    logits = model((SOURCE, TARGET))
    twin = Transformer.from_config(model.get_config())
    twin((SOURCE, TARGET))
    twin.set_weights(model.get_weights())
    np.testing.assert_allclose(twin((SOURCE, TARGET)), logits, atol=1e-6)
    assert twin.encoder.dropout == 0.2


def test_one_embedding_serves_encoder_decoder_and_logits(tmp_path):
    model = Transformer.from_sizes(
        *(11, 11, 1, 1, 6, 7, 3), tie_embeddings=True, share_embeddings=True, dropout=0.1
    )
    logits = ops.convert_to_numpy(model((SOURCE, TARGET)))
    tables = [weight.path for weight in model.weights if "embeddings" in weight.path]
    assert len(tables) == 1 and "encoder/embedding" in tables[0]
    # The same model with two equal tables.
    apart = Transformer.from_sizes(*(11, 11, 1, 1, 6, 7, 3), tie_embeddings=True)
    apart((SOURCE, TARGET))
    (table,) = (w for w in model.weights if "embeddings" in w.path)
    of_decoder, others = [], iter(model.get_weights())
    for weight in apart.weights:
        is_second = "decoder/embedding" in weight.path
        of_decoder.append(ops.convert_to_numpy(table) if is_second else next(others))
    apart.set_weights(of_decoder)
    np.testing.assert_allclose(apart((SOURCE, TARGET)), logits, atol=1e-6)
    # Saved and loaded, there is still one.
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert len(loaded.weights) == len(model.weights)
    np.testing.assert_allclose(loaded((SOURCE, TARGET)), logits, atol=1e-6)


def test_an_embedding_of_other_sizes_cannot_be_shared():
    with pytest.raises(ValueError, match=r"must have the sizes of the decoder.*\(11, 6\)"):
        Transformer.from_sizes(*(11, 13, 1, 1, 6, 7, 3), share_embeddings=True)


def test_overfits_a_pair_through_fit():
    keras.utils.set_random_seed(1)
    sizes = {"num_hiddens": 16, "ffn_num_hiddens": 16, "num_heads": 2, "blockwise": False}
    model = Transformer.from_sizes(11, 13, 1, 1, **sizes)
    model.compile(keras.optimizers.Adam(0.03), _cross_entropy, run_eagerly=True)
    answers = np.array([[5, 9, 3], [6, 3, 0]])
    history = model.fit((SOURCE, TARGET), answers, epochs=12, verbose=0)
    assert history.history["loss"][-1] < 1.0
    said = ops.convert_to_numpy(ops.argmax(model((SOURCE, TARGET)), -1))
    assert said[0].tolist() == [5, 9, 3]


def _cross_entropy(targets, logits):
    return ops.sparse_categorical_crossentropy(targets, logits, from_logits=True)


def test_decoder_without_cross_attention_is_refused():
    sizes = (11, 1, 6, 7, 3)
    with pytest.raises(ValueError, match="`decoder` must have cross-attention"):
        Transformer(Encoder(*sizes), Decoder(*sizes, cross_attention=False))
