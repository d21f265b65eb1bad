import numpy as np
import pytest

from keras_attn import Transformer


@pytest.fixture(scope="session")
def tiny_model():
    """An untrained model of 13 source and 11 target pieces whose translations differ by source."""
    sizes = {"num_hiddens": 12, "ffn_num_hiddens": 16, "num_heads": 3}
    # Without blocks, as in training: graphs are smaller.
    model = Transformer.from_sizes(13, 11, 2, 2, **sizes, blockwise=False)
    model.build(((None, None), (None, None)))
    random = np.random.default_rng(0)
    # Strong weights; scales of the normalisations stay around 1.
    model.set_weights([(w == 1) + random.normal(0, 0.6, w.shape) for w in model.get_weights()])
    return model
