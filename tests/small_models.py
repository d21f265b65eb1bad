"""Small models with strong weights, and one whose `call` is not the library's."""

import numpy as np

from keras_attn import Transformer


def strengthen(model, seed=0):
    """Give a built model weights with which its translations differ by source."""
    random = np.random.default_rng(seed)
    # Scales of the normalizations stay around 1.
    model.set_weights([(w == 1) + random.normal(0, 0.6, w.shape) for w in model.get_weights()])
    return model


def strong(num_encoder_layers=1, num_decoder_layers=1, **options):
    """A model of 13 source and 11 target pieces whose translations differ by source."""
    model = Transformer.from_sizes(
        13, 11, num_encoder_layers, num_decoder_layers, 12, 16, 2, **options
    )
    model.build(((None, None), (None, None)))
    return strengthen(model)


def assert_weights(model, expected):
    for mine, theirs in zip(model.get_weights(), expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)


class Blind(Transformer):
    """Transformer whose decoder sees the negative memory."""

    def call(self, inputs, training=None):
        source, target = inputs
        memory = -self.encoder(source, training=training)
        mask = self.encoder.compute_mask(source)
        return self.decoder(target, memory, memory_mask=mask, training=training)
