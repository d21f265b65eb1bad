"""Seeds and settings of weights reach every part of every layer."""

import keras
import numpy as np
import pytest
from every_layer import KINDS, LAYERS, built, make
from keras import ops

from keras_attn.dropout import Dropout

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


@pytest.mark.parametrize("name", KINDS)
def test_equal_seeds_drop_the_same_and_others_do_not(name):
    weights = built(name)[0].get_weights()

    def output(seed):
        layer, inputs = make(name, seed=seed, dropout=0.5)
        layer(*inputs)
        layer.set_weights(weights)
        return ops.convert_to_numpy(layer(*inputs, training=True))

    first = output(3)
    np.testing.assert_array_equal(output(3), first)
    assert (output(4) != first).any()


@pytest.mark.parametrize(
    "name",
    [label for label in LAYERS if hasattr(make(label)[0], "kernel_initializer")],
)
def test_settings_reach_every_kernel_and_bias_through_blocks_and_stacks(name):
    layer, inputs = make(name, **SETTINGS)
    config = layer.get_config()
    assert type(layer).from_config(config).get_config() == config
    layer(*inputs)
    for part in layer._flatten_layers():
        if not isinstance(part, keras.layers.Dense):
            continue
        assert (ops.convert_to_numpy(part.kernel) == 0.25).all()
        assert part.kernel.regularizer.l2 == 0.5
        assert part.kernel.constraint.max_value == 2.0
        if part.bias is not None:
            assert (ops.convert_to_numpy(part.bias) == 0.5).all()
            assert part.bias.regularizer.l1 == 0.25
            assert isinstance(part.bias.constraint, keras.constraints.NonNeg)
    assert layer.losses


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
