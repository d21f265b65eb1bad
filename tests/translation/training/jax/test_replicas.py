import pytest
from processes import run_python

pytest.importorskip("jax")

PROGRAM = """
import re
import jax, keras, numpy as np
from keras_attn.translation.config import Config
from keras_attn.translation.training.jax import devices
from keras_attn.translation.model import make_model
from keras_attn.translation.training.jax import replicas
from keras_attn.training.backend import make_seed
from keras_attn.translation.training.step import make_loss

devices.connect()
distribution = keras.distribution.distribution()
layers = {"num_encoder_layers": 1, "num_decoder_layers": 1, "num_heads": 2}
config = Config(num_hiddens=8, ffn_num_hiddens=8, dropout=0.0, **layers)
model = make_model(20, 20, config)
model.build(((None, None), (None, None)))
draw = np.random.default_rng(0)
batch = [draw.integers(3, 20, (4, length)).astype("int32") for length in (5, 6, 6)]
batch[2][:2, 2:] = 0  # the devices have different numbers of tokens
loss_of = make_loss(model, config)
weights, others = model.trainable_variables, model.non_trainable_variables
seed = make_seed(1, 2)

def together(values):
    with keras.StatelessScope(state_mapping=list(zip(weights, values))):
        return loss_of(tuple(batch[:2]), batch[2], seed)

expected = jax.value_and_grad(together)([one.value for one in weights])
rows = [
    jax.device_put(ids, distribution.get_data_layout(ids.shape).backend_layout) for ids in batch
]
compiled = jax.jit(
    lambda batch: replicas.loss_and_gradients(loss_of, weights, others, batch, seed)
).lower(rows).compile()
for one, other in zip(jax.tree.leaves(compiled(rows)), jax.tree.leaves(expected), strict=True):
    np.testing.assert_allclose(one, other, atol=1e-6)
print(jax.device_count(), len(re.findall(r" all-reduce(?:-start)?\\(", compiled.as_text())))
"""


@pytest.mark.slow
def test_gradients_of_all_rows_are_summed_over_the_devices_as_one_array():
    two_devices = "--xla_force_host_platform_device_count=2"
    ended = run_python("-c", PROGRAM, KERAS_BACKEND="jax", XLA_FLAGS=two_devices)
    assert ended.stdout == "2 1\n"
