"""Seeds and settings of weights reach every part of every layer."""

import keras
import numpy as np
import pytest
from every_layer import (
    LAYERS,
    X,
    make,
)
from keras import ops

import keras_attn

SETTINGS = {
    "kernel_initializer": keras.initializers.Constant(0.25),
    "kernel_regularizer": keras.regularizers.L2(0.5),
    "kernel_constraint": keras.constraints.MaxNorm(2.0),
    "bias_initializer": keras.initializers.Constant(0.5),
    "bias_regularizer": keras.regularizers.L1(0.25),
    "bias_constraint": keras.constraints.NonNeg(),
}
TABLES = {
    "embeddings_initializer": keras.initializers.Constant(0.25),
    "embeddings_regularizer": keras.regularizers.L2(0.5),
    "embeddings_constraint": keras.constraints.MaxNorm(2.0),
}


@pytest.mark.parametrize("name", [label for label in LAYERS if "dropout" in LAYERS[label][0]])
def test_equal_seeds_drop_the_same_and_others_do_not(name):
    if name == "Residual":
        pytest.skip("the layer around it is a user's")

    def output(seed):
        keras.utils.set_random_seed(1)  # for the weights
        layer, inputs = make(name, seed=seed, dropout=0.5)
        return ops.convert_to_numpy(layer(*inputs, training=True))

    np.testing.assert_array_equal(output(3), output(3))
    assert (output(3) != output(4)).any()


def test_sublayers_of_one_seed_drop_other_places():
    block = keras_attn.EncoderBlock(6, 7, 3, dropout=0.5, seed=4)
    block(X)
    dropouts = [
        layer.seed for layer in block._flatten_layers() if isinstance(layer, keras.layers.Dropout)
    ]
    assert len(set(dropouts)) == len(dropouts) > 2


@pytest.mark.parametrize(
    "name", [label for label in LAYERS if hasattr(make(label)[0], "kernel_initializer")]
)
def test_settings_reach_every_kernel_and_bias_through_blocks_and_stacks(name):
    layer, inputs = make(name, **SETTINGS)
    twin = type(layer).from_config(layer.get_config())
    for each in (layer, twin):
        each(*inputs)
        for part in each._flatten_layers():
            if not isinstance(part, keras.layers.Dense):
                continue
            assert (ops.convert_to_numpy(part.kernel) == 0.25).all()
            assert part.kernel.regularizer.l2 == 0.5
            assert part.kernel.constraint.max_value == 2.0
            if part.bias is not None:
                assert (ops.convert_to_numpy(part.bias) == 0.5).all()
                assert part.bias.regularizer.l1 == 0.25
                assert isinstance(part.bias.constraint, keras.constraints.NonNeg)
        assert each.losses


@pytest.mark.parametrize("name", ["LearnedPositionalEncoding", "TokenEmbedding", "Encoder"])
def test_settings_reach_every_table(name):
    layer, inputs = make(name, **TABLES)
    twin = type(layer).from_config(layer.get_config())
    for each in (layer, twin):
        each(*inputs)
        tables = [v for v in each.weights if v.path.split("/")[-1] in ("table", "embeddings")]
        assert tables
        for table in tables:
            assert (ops.convert_to_numpy(table) == 0.25).all()
            assert table.regularizer.l2 == 0.5
            assert table.constraint.max_value == 2.0
