"""Seeds and settings of weights reach every part of every layer."""

import keras
import numpy as np
import pytest
from every_layer import LAYERS, built, make
from keras import ops

from keras_attn import LearnedPositionalEncoding
from keras_attn.layers.dropout import Dropout

SETTINGS = {
    "kernel_initializer": keras.initializers.Constant(0.25),
    "kernel_regularizer": keras.regularizers.L2(0.5),
    "kernel_constraint": keras.constraints.MaxNorm(2.0),
    "bias_initializer": keras.initializers.Constant(0.5),
    "bias_regularizer": keras.regularizers.L1(0.25),
    "bias_constraint": keras.constraints.NonNeg(),
    "embeddings_initializer": keras.initializers.Constant(0.125),
    "embeddings_regularizer": keras.regularizers.L2(0.125),
    "embeddings_constraint": keras.constraints.MaxNorm(3.0),
}
PARTS = (keras.layers.Dense, keras.layers.Embedding, LearnedPositionalEncoding)


def settings_of(name):
    layer, _ = make(name)
    return {setting: value for setting, value in SETTINGS.items() if hasattr(layer, setting)}


def dropouts(layer):
    return [part for part in layer._flatten_layers() if isinstance(part, Dropout) and part.rate]


def test_a_seed_gives_each_dropout_of_every_layer_a_seed_of_its_own():
    faults = []
    for name in LAYERS:
        if "dropout" not in LAYERS[name][0] or name == "Residual":
            continue  # Residual: the layer around it is a user's
        found, again, others = (
            [part.seed for part in dropouts(make(name, seed=seed, dropout=0.5)[0])]
            for seed in (3, 3, 4)
        )
        if not found or None in found or len(set(found)) < len(found):
            faults.append(f"{name}: seeds {found}")
        if found != again or set(found) & set(others):
            faults.append(f"{name}: {found}, then {again}, and {others} for another seed")
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("name", ["AdditiveAttention", "EncoderBlock"])
def test_layers_drop_in_training_only_and_the_same_with_equal_seeds(name):
    weights = built(name)[0].get_weights()

    def outputs(seed):
        layer, inputs = make(name, seed=seed, dropout=0.5)
        layer(*inputs)
        layer.set_weights(weights)
        return [ops.convert_to_numpy(layer(*inputs, training=flag)) for flag in (False, True)]

    calm, first = outputs(3)
    np.testing.assert_array_equal(outputs(3), [calm, first])
    np.testing.assert_array_equal(outputs(4)[0], calm)
    assert (first != calm).any() and (outputs(4)[1] != first).any()


# The table of "Encoder-learned" is made by the caller, with settings of its own.
@pytest.mark.parametrize("name", [n for n in LAYERS if n != "Encoder-learned" and settings_of(n)])
def test_settings_reach_every_kernel_bias_and_table_through_blocks_and_stacks(name):
    own = settings_of(name)
    layer, inputs = make(name, **own)
    twin = type(layer).from_config(layer.get_config())
    assert twin.get_config() == layer.get_config()
    for each in (layer, twin):
        each(*inputs)
        assert each.losses
        parts = [part for part in each._flatten_layers() if isinstance(part, PARTS)]
        for weight in (weight for part in parts for weight in part.weights):
            kind = weight.path.split("/")[-1].replace("table", "embeddings")
            value = own[f"{kind}_initializer"].value
            assert (ops.convert_to_numpy(weight) == value).all(), weight.path
            for setting in ("regularizer", "constraint"):
                found, expected = getattr(weight, setting), own[f"{kind}_{setting}"]
                assert type(found) is type(expected), weight.path
                assert found.get_config() == expected.get_config(), weight.path
