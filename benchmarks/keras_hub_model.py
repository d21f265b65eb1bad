"""KerasHub layers with the weights of an exported translator, for `decode.py`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from keras_hub.layers import TransformerDecoder, TransformerEncoder
from keras_hub.samplers import BeamSampler, GreedySampler

from keras_attn.layers.positions import PositionalEncoding
from keras_attn.translation import named_weights
from keras_attn.translation.config import Config
from keras_attn.translation.decoding.limits import FORBIDDEN_IDS
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID
from keras_attn.translation.tokenization.tokenizer import Tokenizer
from keras_attn.translation.versions import CONFIG, EXTRA


class Model:
    """Encoder and decoding steps."""

    def __init__(self, trained: dict[str, np.ndarray], config: Config):
        self._trained, self._config = trained, config
        self._width = config.num_hiddens
        sizes = {
            "intermediate_dim": config.ffn_num_hiddens,
            "num_heads": config.num_heads,
            "activation": "relu",
            "layer_norm_epsilon": 1e-6,
            "normalize_first": True,
        }
        self._encoder = [TransformerEncoder(**sizes) for _ in range(config.num_encoder_layers)]
        self._decoder = [TransformerDecoder(**sizes) for _ in range(config.num_decoder_layers)]
        some = np.zeros((1, 2, self._width), np.float32)
        for block in self._encoder:
            block(some)
        for block in self._decoder:
            block(some, some)
        for name, blocks in (("encoder", self._encoder), ("decoder", self._decoder)):
            for i, block in enumerate(blocks):
                self._fill(block, f"{name}/block_{i}", name == "decoder")
        self._norms = {name: self._norm(f"{name}/norm") for name in ("encoder", "decoder")}
        self._embeddings = {
            name: tf.constant(trained[f"{name}/embedding/tokens/embeddings"] * self._width**0.5)
            for name in ("encoder", "decoder")
        }
        zeros = np.zeros((1, 2 * config.max_length, self._width), np.float32)
        self._positions = tf.constant(np.asarray(PositionalEncoding()(zeros))[0])
        self._kernel = tf.constant(trained["decoder/logits/kernel"])
        bias = trained["decoder/logits/bias"].copy()
        bias[list(FORBIDDEN_IDS)] = -1e9
        self._bias = tf.constant(bias)

    def encode(self, ids: tf.Tensor) -> tf.Tensor:
        x = tf.gather(self._embeddings["encoder"], ids) + self._positions[: tf.shape(ids)[1]]
        for block in self._encoder:
            x = block(x, padding_mask=tf.not_equal(ids, PAD_ID))
        return self._norms["encoder"](x)

    def search(self, ids: tf.Tensor) -> tf.Tensor:
        """Translate source ids `(B, S)` to target ids `(B, L)`."""
        config = self._config
        memory, memory_mask = self.encode(ids), tf.not_equal(ids, PAD_ID)
        batch_size, length = tf.shape(ids)[0], tf.minimum(2 * tf.shape(ids)[1] + 10, 128)
        head = (config.num_heads, self._width // config.num_heads)
        rows = (batch_size, len(self._decoder), 2)
        cache = tf.zeros((*rows, length, *head))
        cross = tf.zeros((*rows, tf.shape(ids)[1], *head))

        def step(last, cache, cross, memory, memory_mask, index, cross_index):
            x = tf.gather(self._embeddings["decoder"], last)[:, None] + self._positions[index]
            own, others = [], []
            for i, block in enumerate(self._decoder):
                x, its, its_cross = block(
                    x,
                    memory,
                    encoder_padding_mask=memory_mask,
                    self_attention_cache=cache[:, i],
                    self_attention_cache_update_index=index,
                    cross_attention_cache=cross[:, i],
                    cross_attention_cache_update_index=cross_index,
                )
                own.append(its)
                others.append(its_cross)
            logits = self._norms["decoder"](x)[:, 0] @ self._kernel + self._bias
            return logits, tf.stack(own, axis=1), tf.stack(others, axis=1)

        # The first call fills the key/value cache of the memory.
        begin = tf.fill([batch_size], BOS_ID)
        _, cache, cross = step(begin, cache, cross, memory, memory_mask, 0, 0)

        def next_token(prompt, cache, index):
            times = tf.shape(prompt)[0] // batch_size
            per_row = (tf.repeat(x, times, axis=0) for x in (cross, memory, memory_mask))
            its_cross, its_memory, its_mask = per_row
            logits, cache, _ = step(
                prompt[:, index - 1], cache, its_cross, its_memory, its_mask, index - 1, None
            )
            return logits, None, cache

        prompt = tf.concat([begin[:, None], tf.fill([batch_size, length - 1], PAD_ID)], axis=1)
        sampler = GreedySampler() if config.beam_size == 1 else BeamSampler(config.beam_size)
        return sampler(
            next_token,
            prompt,
            cache,
            index=1,
            mask=tf.not_equal(prompt, PAD_ID),
            stop_token_ids=[EOS_ID],
        )

    def _norm(self, name: str) -> keras.layers.Layer:
        norm = keras.layers.LayerNormalization(epsilon=1e-6)
        norm.build((None, self._width))
        norm.set_weights([self._trained[f"{name}/{part}"] for part in ("gamma", "beta")])
        return norm

    def _fill(self, block: keras.layers.Layer, name: str, is_decoder: bool) -> None:
        ours = self._trained
        heads = self._config.num_heads, self._width // self._config.num_heads
        kinds = ("self", "cross") if is_decoder else ("self",)
        for kind in kinds:
            layer = getattr(block, f"_{kind}_attention_layer")
            norm = getattr(block, f"_{kind}_attention_layer_norm")
            for part in ("query", "key", "value"):
                kernel = ours[f"{name}/{kind}_attention/{part}/kernel"]
                dense = getattr(layer, f"_{part}_dense")
                dense.set_weights([kernel.reshape(-1, *heads), np.zeros(heads)])
            kernel = ours[f"{name}/{kind}_attention/output/kernel"]
            layer._output_dense.set_weights(
                [kernel.reshape(*heads, self._width), np.zeros(self._width)]
            )
            around = f"{name}/around_{kind}_attention/norm"
            norm.set_weights([ours[f"{around}/{part}"] for part in ("gamma", "beta")])
        around = f"{name}/around_feed_forward/norm"
        block._feedforward_layer_norm.set_weights(
            [ours[f"{around}/{part}"] for part in ("gamma", "beta")]
        )
        for part, dense in (("inner", "intermediate"), ("outer", "output")):
            getattr(block, f"_feedforward_{dense}_dense").set_weights(
                [ours[f"{name}/feed_forward/{part}/{kind}"] for kind in ("kernel", "bias")]
            )


def load(folder: Path, longest: int) -> Callable[[list[str]], list[str]]:
    """Translation function from strings to strings."""
    config = Config.load(folder / EXTRA / CONFIG)
    model = Model(named_weights.of_version(folder), config)
    source, target = (
        Tokenizer.load(folder / EXTRA / f"{name}.model") for name in ("source", "target")
    )
    search = tf.function(model.search, input_signature=[tf.TensorSpec((None, None), tf.int32)])

    def translate(texts: list[str]) -> list[str]:
        pieces = [[*row[: longest - 1], EOS_ID] for row in source.encode(texts)]
        ids = np.full((len(texts), max(map(len, pieces))), PAD_ID, np.int32)
        for row, its in zip(ids, pieces, strict=True):
            row[: len(its)] = its
        said = []
        for row in search(ids).numpy().tolist():
            row = row[1:]
            row = row[: row.index(EOS_ID)] if EOS_ID in row else row
            said.append([token for token in row if token != PAD_ID])
        return target.decode(said)

    return translate
