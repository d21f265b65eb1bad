"""The model that a configuration describes."""

import json

import keras

from keras_attn.layers.positions import own_position
from keras_attn.layers.transformer import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.decoding.search import num_positions


def make_model(source_vocab_size: int, target_vocab_size: int, config: Config) -> Transformer:
    """Return a built model with initial weights, for numbers of source and target pieces.

    >>> config = Config(num_hiddens=8, num_heads=2, ffn_num_hiddens=8, position="rotary")
    >>> make_model(10, 12, config).encoder.block_0.position.base
    10000.0
    """
    options = config.model_options()
    options["logits_use_bias"] = options.pop("logits_bias") or None
    options["num_kv_heads"] = config.num_kv_heads or None
    # Sines are computed when needed: each function of an export would hold a table of them.
    max_len = num_positions(config) if config.position == "learned" else 1
    options["position"] = own_position(config.position, max_len=max_len)
    # Sentences are short: without blocks, graphs are smaller and traced in less time.
    options |= {"blockwise": False, "dtype": config.dtype_policy}
    model = Transformer.from_sizes(source_vocab_size, target_vocab_size, **options)
    model.build(((None, None), (None, None)))
    return model


def in_dtype(model: Transformer, dtype: str) -> Transformer:
    """Return a built model with the same weights that computes and keeps them in a dtype.

    >>> model = make_model(10, 12, Config(num_hiddens=8, num_heads=2, ffn_num_hiddens=8))
    >>> {weight.dtype for weight in in_dtype(model, "bfloat16").weights}
    {'bfloat16'}
    """
    policy = {"dtype": keras.saving.serialize_keras_object(keras.DTypePolicy(dtype))}
    # The layers inside have a dtype each.
    config = json.dumps(model.get_config())
    replaced = json.loads(config, object_hook=lambda one: one | policy if "dtype" in one else one)
    made = type(model).from_config(replaced)
    made.build(((None, None), (None, None)))
    made.set_weights(model.get_weights())
    return made
