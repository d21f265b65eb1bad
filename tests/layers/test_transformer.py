import keras
import numpy as np
import pytest
from every_layer import save_and_load
from keras import ops

from keras_attn import Transformer

SOURCE = np.array([[3, 7, 5, 0], [2, 4, 6, 8]])
TARGET = np.array([[2, 5, 9], [2, 6, 0]])


def test_logits_are_those_of_encoder_and_decoder_whatever_the_padding_of_the_source():
    model = Transformer.from_sizes(11, 13, 2, 1, 6, 7, 3, dropout=0.2)
    expected = model.decoder(TARGET, model.encoder(SOURCE), memory_mask=SOURCE != 0)
    assert expected.shape == (2, 3, 13)
    np.testing.assert_allclose(model((SOURCE, TARGET)), expected, atol=1e-6)
    padded = np.pad(SOURCE, ((0, 0), (0, 3)))
    np.testing.assert_allclose(model((padded, TARGET)), expected, atol=1e-5)


def test_one_embedding_serves_encoder_decoder_and_logits(tmp_path):
    sizes = (11, 11, 1, 1, 6, 7, 3)
    options = {"tie_embeddings": True, "share_embeddings": True, "dropout": 0.1}
    model = Transformer.from_sizes(*sizes, **options)
    logits = ops.convert_to_numpy(model((SOURCE, TARGET)))
    (table,) = (weight for weight in model.weights if "embeddings" in weight.path)
    assert "encoder/embedding" in table.path
    # The same model with two equal tables.
    apart = Transformer.from_sizes(*sizes, tie_embeddings=True)
    apart((SOURCE, TARGET))
    others = iter(model.weights)
    for weight in apart.weights:
        weight.assign(table if "decoder/embedding" in weight.path else next(others))
    np.testing.assert_allclose(apart((SOURCE, TARGET)), logits, atol=1e-6)
    # Saved and loaded, there is still one.
    loaded = save_and_load(model, tmp_path)
    assert len(loaded.weights) == len(model.weights)
    np.testing.assert_allclose(loaded((SOURCE, TARGET)), logits, atol=1e-6)
    with pytest.raises(ValueError, match=r"must have the sizes of the decoder.*\(11, 6\)"):
        Transformer.from_sizes(*(11, 13, 1, 1, 6, 7, 3), share_embeddings=True)


def test_overfits_a_pair_through_fit():
    keras.utils.set_random_seed(1)
    model = Transformer.from_sizes(11, 13, 1, 1, 16, 16, 2, blockwise=False)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.05), loss, run_eagerly=True)
    target = np.array([[5, 9, 3], [6, 3, 0]])
    history = model.fit((SOURCE, TARGET), target, epochs=6, verbose=0)
    assert history.history["loss"][-1] < history.history["loss"][0] / 2
    said = ops.convert_to_numpy(ops.argmax(model((SOURCE, TARGET)), -1))
    assert said[0].tolist() == [5, 9, 3]
