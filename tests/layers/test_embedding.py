import numpy as np
from keras import ops

from keras_attn import TokenEmbedding


def test_is_the_scaled_row_plus_the_position():
    layer = TokenEmbedding(vocab_size=7, num_hiddens=4)
    output = ops.convert_to_numpy(layer(np.array([[5, 2]]), start=3))[0]
    table = layer.weights[0].numpy()
    for row, (token, t) in enumerate([(5, 3), (2, 4)]):
        position = [np.sin(t), np.cos(t), np.sin(t / 100), np.cos(t / 100)]
        np.testing.assert_allclose(output[row], 2 * table[token] + position, atol=1e-5)
