"""Encoder and decoder as one Keras model."""

from __future__ import annotations

from typing import Any

import keras

from keras_attn.decoder import Decoder
from keras_attn.encoder import Encoder


@keras.saving.register_keras_serializable(package="keras_attn")
class Transformer(keras.Model):
    """The encoder-decoder model of Vaswani et al. 2017.

    Masking: id 0 is padding on both sides; logits at `t` depend on target ids up to `t` only.

    Args:
        encoder: An `Encoder`.
        decoder: A `Decoder` with cross-attention.

    Call arguments:
        inputs: A pair of integer tensors: source ids `(B, S)`, target ids `(B, T)`.
        return_attention_scores: Whether the attention weights are returned too.
        training: Whether dropout applies.

    Returns:
        Logits `(B, T, V)` of the token that follows each target id, or these and the weights by
        layer: `{"encoder/block_0/self_attention": (B, H, S, S), ...,
        "decoder/block_0/cross_attention": (B, H, T, S), ...}`.

    Raises:
        ValueError: If the decoder has no cross-attention, or `inputs` are no pair.

    Example:

    >>> model = Transformer.from_sizes(10, 12, 2, 1, num_hiddens=8, ffn_num_hiddens=16, num_heads=2)
    >>> source, target = [[3, 7, 3]], [[2, 5]]
    >>> logits = model((keras.ops.array(source), keras.ops.array(target)))
    >>> tuple(logits.shape)
    (1, 2, 12)
    """

    def __init__(self, encoder, decoder, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(encoder, Encoder):
            raise ValueError(f"`encoder` must be an Encoder. Received: encoder={encoder!r}.")
        if not isinstance(decoder, Decoder):
            raise ValueError(f"`decoder` must be a Decoder. Received: decoder={decoder!r}.")
        if not decoder.cross_attention:
            raise ValueError(
                "`decoder` must have cross-attention. Received: decoder.cross_attention=False."
            )
        self.encoder = encoder
        self.decoder = decoder

    @classmethod
    def from_sizes(
        cls,
        source_vocab_size,
        target_vocab_size,
        num_encoder_layers,
        num_decoder_layers,
        num_hiddens,
        ffn_num_hiddens,
        num_heads,
        dropout=0.0,
        dtype=None,
    ):
        """A model whose encoder and decoder have the same widths."""
        sizes = (num_hiddens, ffn_num_hiddens, num_heads, dropout)
        return cls(
            Encoder(source_vocab_size, num_encoder_layers, *sizes, name="encoder", dtype=dtype),
            Decoder(target_vocab_size, num_decoder_layers, *sizes, name="decoder", dtype=dtype),
            dtype=dtype,
        )

    def build(self, input_shape):
        check_pair(input_shape)
        source_shape, target_shape = input_shape
        # A model read from its configuration comes with its parts built.
        if not self.encoder.built:
            self.encoder.build(source_shape)
        if not self.decoder.built:
            memory_shape = (*source_shape, self.encoder.num_hiddens)
            self.decoder.build(target_shape, memory_shape)

    def call(self, inputs, return_attention_scores=False, training=None):
        check_pair(keras.tree.map_structure(lambda x: tuple(x.shape), inputs))
        source_ids, target_ids = inputs
        asked = {"return_attention_scores": return_attention_scores, "training": training}
        memory = self.encoder(source_ids, **asked)
        weights: dict[str, Any] = {}
        if return_attention_scores:
            memory, found = memory
            weights |= {f"encoder/{name}": part for name, part in found.items()}
        logits = self.decoder(
            target_ids, memory, memory_mask=self.encoder.compute_mask(source_ids), **asked
        )
        if return_attention_scores:
            logits, found = logits
            weights |= {f"decoder/{name}": part for name, part in found.items()}
        return (logits, weights) if return_attention_scores else logits

    def compute_mask(self, inputs, previous_mask=None):
        return self.decoder.compute_mask(inputs[1])

    def get_config(self):
        return {
            **super().get_config(),
            "encoder": keras.saving.serialize_keras_object(self.encoder),
            "decoder": keras.saving.serialize_keras_object(self.decoder),
        }

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        encoder = keras.saving.deserialize_keras_object(config.pop("encoder"))
        decoder = keras.saving.deserialize_keras_object(config.pop("decoder"))
        return cls(encoder, decoder, **config)


def check_pair(shapes):
    """Refuse the shapes of inputs that are not two tensors of two dimensions."""
    is_pair = isinstance(shapes, list | tuple) and len(shapes) == 2
    if not is_pair or not all(isinstance(s, list | tuple) and len(s) == 2 for s in shapes):
        raise ValueError(
            "`inputs` must be a pair: source ids (B, S) and target ids (B, T). "
            f"Received: inputs.shape={shapes}."
        )
