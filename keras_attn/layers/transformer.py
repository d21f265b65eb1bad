"""Transformer: encoder and decoder as one Keras model."""

from __future__ import annotations

from typing import Any

import keras

from keras_attn.habits import bind
from keras_attn.layers.checks import check_symbolic_dtypes
from keras_attn.layers.decoder import Decoder
from keras_attn.layers.encoder import Encoder
from keras_attn.layers.layer import Explained, freeze_if_frozen
from keras_attn.layers.lora import Adaptable
from keras_attn.layers.stack import listed


@keras.saving.register_keras_serializable(package="keras_attn")
class Transformer(Explained, keras.Model, Adaptable):
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
        ValueError: If the decoder has no cross-attention, or `inputs` is not a pair.

    Example:

    >>> model = Transformer.from_sizes(10, 12, 2, 1, num_hiddens=8, ffn_num_hiddens=16, num_heads=2)
    >>> source, target = [[3, 7, 3]], [[2, 5]]
    >>> logits = model((keras.ops.array(source), keras.ops.array(target)))
    >>> tuple(logits.shape)
    (1, 2, 12)
    """

    def __init__(self, encoder: Encoder, decoder: Decoder, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.autocast = False  # float ids raise an error instead of being rounded
        if not isinstance(encoder, Encoder):
            raise ValueError(
                "`encoder` must be an Encoder; `Transformer.from_sizes` takes numbers. "
                f"Received: encoder={encoder!r}."
            )
        if not isinstance(decoder, Decoder):
            raise ValueError(f"`decoder` must be a Decoder. Received: decoder={decoder!r}.")
        if not decoder.cross_attention:
            raise ValueError(
                "`decoder` must have cross-attention. Received: decoder.cross_attention=False."
            )
        self.encoder = encoder
        self.decoder = decoder
        if decoder.share_embeddings:
            decoder.use_embedding(encoder.embedding)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        bind("Transformer", self._call_signature, args, kwargs)
        return super().__call__(*args, **kwargs)

    @classmethod
    def from_sizes(
        cls,
        source_vocab_size: int,
        target_vocab_size: int,
        num_encoder_layers: int,
        num_decoder_layers: int,
        num_hiddens: int,
        ffn_num_hiddens: int,
        num_heads: int,
        dropout: float = 0.0,
        dtype: Any = None,
        tie_embeddings: bool = False,
        logits_use_bias: bool | None = None,
        share_embeddings: bool = False,
        **options: Any,
    ) -> Transformer:
        """Return a model whose encoder and decoder have the same widths and options.

        `tie_embeddings`, `logits_use_bias` and `share_embeddings` are options of the decoder alone.
        """
        options |= {"dropout": dropout, "dtype": dtype}
        sizes = (num_hiddens, ffn_num_hiddens, num_heads)
        encoder = Encoder(source_vocab_size, num_encoder_layers, *sizes, name="encoder", **options)
        options |= {"tie_embeddings": tie_embeddings, "logits_use_bias": logits_use_bias}
        options["share_embeddings"] = share_embeddings
        decoder = Decoder(target_vocab_size, num_decoder_layers, *sizes, name="decoder", **options)
        return cls(encoder, decoder, dtype=dtype)

    @property
    def input_dtype(self) -> str:
        # Dtype of the inputs of an exported model.
        return "int32"

    def build(self, input_shape: tuple) -> None:
        _check_pair(input_shape)
        source_shape, target_shape = input_shape
        # `from_config` returns a model with built parts.
        if not self.encoder.built:
            self.encoder.build(source_shape)
        if not self.decoder.built:
            self.decoder.build(target_shape, (*source_shape, self.encoder.num_hiddens))
        freeze_if_frozen(self)

    def call(
        self, inputs: Any, return_attention_scores: bool = False, training: bool | None = None
    ) -> Any:
        _check_pair(keras.tree.map_structure(lambda x: tuple(x.shape), inputs))
        source_ids, target_ids = inputs
        asked = {"return_attention_scores": return_attention_scores, "training": training}
        memory, *of_encoder = listed(self.encoder(source_ids, **asked))
        mask = self.encoder.compute_mask(source_ids)
        logits, *of_decoder = listed(self.decoder(target_ids, memory, memory_mask=mask, **asked))
        if not return_attention_scores:
            return logits
        weights = {f"encoder/{name}": part for name, part in of_encoder[0].items()}
        return logits, weights | {f"decoder/{name}": x for name, x in of_decoder[0].items()}

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        # Traces `call`: its results depend on more than shapes.
        for x in keras.tree.flatten((args, kwargs)):
            check_symbolic_dtypes({"ids": x})
        return super(keras.layers.Layer, self).compute_output_spec(*args, **kwargs)

    def compute_output_shape(self, input_shape: tuple) -> tuple:
        _check_pair(input_shape)
        return self.decoder.compute_output_shape(input_shape[1])

    def get_quantization_layer_structure(self, mode: str | None = None) -> dict[str, list] | None:
        """Return the layers that GPTQ and AWQ quantize, which are layers of the encoder.

        Calibration calls them on source ids; decoder blocks would require a memory too.
        """
        if mode not in ("gptq", "awq"):
            return None
        return {
            "pre_block_layers": [self.encoder.embedding],
            "sequential_blocks": self.encoder.blocks,
        }

    def quantize(
        self, mode: str | None = None, config: Any = None, filters: Any = None, **kwargs: Any
    ) -> None:
        """Quantize the model; GPTQ and AWQ quantize the blocks of the encoder only."""
        name = mode if config is None else config.mode
        if name in ("gptq", "awq") and filters is None:
            calibrated = [block._flatten_layers() for block in self.encoder.blocks]
            filters = {layer for layers in calibrated for layer in layers}.__contains__
        super().quantize(mode, config=config, filters=filters, **kwargs)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        return self.decoder.compute_mask(inputs[1])

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "encoder": keras.saving.serialize_keras_object(self.encoder),
            "decoder": keras.saving.serialize_keras_object(self.decoder),
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Transformer:
        deserialize = keras.saving.deserialize_keras_object
        parts = {name: deserialize(config[name]) for name in ("encoder", "decoder")}
        return cls(**{**config, **parts})


def _check_pair(shapes: Any) -> None:
    """Check that shapes are those of two tensors with two dimensions."""
    is_pair = isinstance(shapes, list | tuple) and len(shapes) == 2
    if not is_pair or not all(isinstance(s, list | tuple) and len(s) == 2 for s in shapes):
        raise ValueError(
            "`inputs` must be a pair, source ids (B, S) and target ids (B, T): "
            f"`model((source, target))`. Received: inputs.shape={shapes}."
        )
