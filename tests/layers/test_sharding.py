import os
import subprocess
import sys

import keras
import pytest

from keras_attn.layers.sharding import layout_map

CODE = """
import keras, numpy as np
import keras_attn

def model():
    keras.utils.set_random_seed(1)
    sizes = dict(num_hiddens=8, ffn_num_hiddens=16, num_heads=2)
    return keras_attn.Transformer.from_sizes(10, 12, 2, 1, **sizes)

source = np.array([[3, 7, 5, 0], [2, 4, 6, 8]])
target = np.array([[2, 5, 7], [2, 3, 0]])

def fit(model):
    model.compile(keras.optimizers.SGD(0.1), keras.losses.SparseCategoricalCrossentropy(True))
    model.fit((source, target), target, batch_size=2, epochs=2, shuffle=False, verbose=0)
    return np.asarray(model((source, target)))

expected = fit(model())
devices = keras.distribution.list_devices()
assert len(devices) == 2
mesh = keras.distribution.DeviceMesh((1, 2), ("batch", "model"), devices)
keras.distribution.set_distribution(
    keras.distribution.ModelParallel(
        layout_map=keras_attn.layers.sharding.layout_map(mesh), batch_dim_name="batch"
    )
)
split = model()
np.testing.assert_allclose(fit(split), expected, atol=1e-4)
shards = {v.path: len({str(s.index) for s in v.value.addressable_shards}) for v in split.weights}
print(sum(count == 2 for count in shards.values()))
"""


@pytest.mark.skipif(keras.backend.backend() != "jax", reason="Keras distributes on JAX alone")
def test_a_transformer_split_over_two_devices_trains_as_on_one():
    flags = "--xla_force_host_platform_device_count=2"
    environment = {**os.environ, "XLA_FLAGS": flags, "KERAS_BACKEND": "jax"}
    code = f"import keras_attn.distribution{CODE}"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    # Kernels: four of each of four attentions, two of three networks, logits; biases and tables.
    assert result.stdout.split()[-1:] == [str(4 * 4 + 2 * 3 + 1 + 3 + 1 + 2)], result.stderr[-2000:]


def test_an_axis_that_the_mesh_has_not_is_named():
    devices = keras.distribution.list_devices()[:1]
    mesh = keras.distribution.DeviceMesh((1,), ("batch",), devices)
    with pytest.raises(ValueError, match=r"`axis` must be .*'batch'.* Received: axis='model'"):
        layout_map(mesh)
