"""Conversion of an exported translator to CTranslate2."""

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from keras_attn.cli import missing
from keras_attn.layers.normalization import EPSILON
from keras_attn.layers.positions import PositionalEncoding
from keras_attn.translation import named_weights
from keras_attn.translation.config import Config
from keras_attn.translation.tokenization.tokenizer import Tokenizer, Tokenizers
from keras_attn.translation.versions import CONFIG, EXTRA, newest_version, temporary_folder


def convert(model: Path, out: Path) -> None:
    """Write a translator as a CTranslate2 model with the SentencePiece models of both sides.

    Translations of single sentences are those of `model`, the folder of an exported version or of
    all versions. The caller splits longer texts, puts placeholders in the place of spans
    (`placeholders.mask`), tokenizes with `source.model` and detokenizes with `target.model`.
    """
    try:
        from ctranslate2.specs import TransformerSpec
    except ImportError as error:
        raise ValueError(missing("ctranslate2", "ctranslate2")) from error
    if out.exists():
        raise ValueError(f"`out` must be a folder that does not exist. Received: {out}.")
    version = newest_version(model)
    config = Config.load(version / EXTRA / CONFIG)
    _check_options(config)
    weights = named_weights.of_version(version)
    spec = TransformerSpec.from_config(
        (config.num_encoder_layers, config.num_decoder_layers), config.num_heads
    )
    _fill_stack(spec.encoder, weights, "encoder")
    _fill_stack(spec.decoder, weights, "decoder")
    spec.encoder.embeddings[0].weight = weights["encoder/embedding/tokens/embeddings"]
    spec.decoder.embeddings.weight = weights["decoder/embedding/tokens/embeddings"]
    _fill_linear(spec.decoder.projection, weights, "decoder/logits")
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = EPSILON
    for name in Tokenizers._fields:
        pieces = Tokenizer.load(version / EXTRA / f"{name}.model").pieces
        getattr(spec, f"register_{name}_vocabulary")(pieces)
    spec.validate()
    spec.optimize()
    with temporary_folder(out.parent) as aside:
        spec.save(str(aside))
        for name in Tokenizers._fields:
            shutil.copy(version / EXTRA / f"{name}.model", aside)
        os.rename(aside, out)


def _check_options(config: Config) -> None:
    free = {"num_encoder_layers", "num_decoder_layers", "num_hiddens", "ffn_num_hiddens"}
    free |= {"num_heads", "dropout"}
    standard = Config().model_options()
    options = config.model_options().items()
    others = [f"{name}={x!r}" for name, x in options if name not in free and x != standard[name]]
    if others:
        raise ValueError(
            "A model must have the default options of its blocks to be converted to CTranslate2. "
            f"Received: {', '.join(others)}."
        )


def _fill_stack(spec: Any, weights: dict[str, np.ndarray], name: str) -> None:
    width = weights[f"{name}/norm/gamma"].shape[0]
    longest = PositionalEncoding().max_len
    positions = PositionalEncoding()(np.zeros((1, longest, width), np.float32))
    spec.position_encodings.encodings = np.asarray(positions)[0]
    _fill_norm(spec.layer_norm, weights, f"{name}/norm")
    for number, layer in enumerate(spec.layer):
        block = f"{name}/block_{number}"
        _fill_attention(layer.self_attention, weights, block, "self_attention", "query key value")
        if name == "decoder":
            inputs = "query", "key value"
            _fill_attention(layer.attention, weights, block, "cross_attention", *inputs)
        _fill_norm(layer.ffn.layer_norm, weights, f"{block}/around_feed_forward/norm")
        _fill_linear(layer.ffn.linear_0, weights, f"{block}/feed_forward/inner")
        _fill_linear(layer.ffn.linear_1, weights, f"{block}/feed_forward/outer")


def _fill_attention(
    spec: Any, weights: dict[str, np.ndarray], block: str, name: str, *inputs: str
) -> None:
    """Fill normalization and projections; `inputs` names the projections of each input."""
    _fill_norm(spec.layer_norm, weights, f"{block}/around_{name}/norm")
    for linear, parts in zip(spec.linear, (*inputs, "output"), strict=True):
        _fill_linear(linear, weights, *(f"{block}/{name}/{part}" for part in parts.split()))


def _fill_norm(spec: Any, weights: dict[str, np.ndarray], name: str) -> None:
    spec.gamma, spec.beta = weights[f"{name}/gamma"], weights[f"{name}/beta"]


def _fill_linear(spec: Any, weights: dict[str, np.ndarray], *names: str) -> None:
    """Concatenate dense layers of the same input; kernels of CTranslate2 have outputs first."""
    kernels = [weights[f"{name}/kernel"] for name in names]
    spec.weight = np.ascontiguousarray(np.concatenate(kernels, axis=1).T)
    biases = [weights[f"{name}/bias"] for name in names if f"{name}/bias" in weights]
    if biases:
        spec.bias = np.concatenate(biases)
