"""Files of a model as Marian and OPUS-MT write them: `.npz` weights and `decoder.yml`."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from keras_attn.translation.importing import folder
from keras_attn.translation.importing.folder import Files
from keras_attn.translation.importing.vocabulary import SpecialTokens
from keras_attn.translation.importing.weights import names_in_blocks
from keras_attn.translation.named_weights import check_paths

DECODER = "decoder.yml"
_OPTIONS = "special:model.yml"
_SIZES = ("enc-depth", "dec-depth", "transformer-heads")
_SIDES = ("encoder", "decoder")
_LOGITS = "decoder_ff_logit_out"
# Epsilon of layer normalisation in Marian's Transformer (`src/layers/constructors.h`).
_NORM_EPSILON = 1e-6
# Marian's default of `max-length-factor`: the longest translation, as a share of the source.
_MAX_LENGTH_FACTOR = 3.0
_LONGEST = 512
_SPECIAL = SpecialTokens("<pad>", "<unk>", "</s>")
# Options of Marian in the form of the OPUS-MT models. An option that is left out is of this form.
_FORM = {
    "type": ("transformer",),
    "transformer-preprocess": ("",),
    "transformer-postprocess": ("dan",),
    "transformer-postprocess-emb": ("", "d"),
    "transformer-decoder-autoreg": ("self-attention",),
    "transformer-train-position-embeddings": ("false",),
    "transformer-no-projection": ("false",),
    "transformer-ffn-depth": ("2",),
    # The GELU of Marian is x * sigmoid(1.702 x), which no activation of Keras is.
    "transformer-ffn-activation": ("swish", "relu"),
}


def read(path: Path) -> Files:
    """Files of a model in the names of transformers; `ValueError` for another form of model."""
    decoder = _parse_yaml(folder.read_bytes(path, DECODER), f"{path / DECODER}")
    models, vocabularies = (decoder.get(entry) or [] for entry in ("models", "vocabs"))
    if len(models) != 1 or len(vocabularies) != 2:
        raise ValueError(
            f"`{DECODER}` must have one model and two vocabularies. Received: models={models}, "
            f"vocabs={vocabularies}."
        )
    name, *vocabularies = (Path(one).name for one in (*models, *vocabularies))
    arrays = _read_arrays(path, name)
    options = _options(arrays.pop(_OPTIONS, None), name)
    _check(options, decoder)
    words = [_read_vocabulary(path, name) for name in vocabularies]
    weights = _weights(arrays, options)
    config = {
        "model_type": "marian",
        "vocab_size": len(words[0]),
        "d_model": weights["model.encoder.embed_tokens.weight"].shape[1],
        "pad_token_id": words[1][_SPECIAL.pad],
        "eos_token_id": words[1].get(_SPECIAL.end, 0),
        "activation_function": options.get("transformer-ffn-activation", "swish"),
        "scale_embedding": True,
        "share_encoder_decoder_embeddings": "Wemb" in arrays,
        "tie_word_embeddings": "lm_head.weight" not in weights,
        "max_position_embeddings": _LONGEST,
        "dropout": _number(options, "transformer-dropout", 0.1),
        "norm_epsilon": _NORM_EPSILON,
    }
    for side, depth in (("encoder", "enc-depth"), ("decoder", "dec-depth")):
        config[f"{side}_layers"] = int(_number(options, depth))
        config[f"{side}_attention_heads"] = int(_number(options, "transformer-heads"))
        config[f"{side}_ffn_dim"] = weights[f"model.{side}.layers.0.fc1.weight"].shape[0]
    banned = [words[1][_SPECIAL.pad]]
    if decoder.get("allow-unk") != "true":
        banned.append(words[1].get(_SPECIAL.unknown, 0))
    generation = {
        "num_beams": int(_number(decoder, "beam-size", 12)),
        "length_penalty": _number(decoder, "normalize", 0.0),
        "early_stopping": True,
        "max_length": _LONGEST,
        "max_length_ratio": _number(decoder, "max-length-factor", _MAX_LENGTH_FACTOR),
        "bad_words_ids": [[i] for i in banned],
    }
    return Files(config, generation, tuple(words), tuple(vocabularies), _SPECIAL, "", "", weights)


def _parse_yaml(content: bytes, name: str) -> dict[str, Any]:
    # Scalars stay text: a token may be `no` or `1`.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    return folder.mapping(content, name, "YAML", partial(yaml.load, Loader=loader))


def _read_vocabulary(path: Path, name: str) -> dict[str, int]:
    """Ids of the tokens of a language, with that of padding after them."""
    # The start of the decoder, which has an embedding of zeros in Marian, is a padding token, as in
    # the models that transformers converts.
    try:
        entries = _parse_yaml(folder.read_bytes(path, name), f"{path / name}")
        tokens = {token: int(number) for token, number in entries.items()}
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"`{path / name}` must be a YAML file with the id of each token. SentencePiece models "
            "as vocabularies are not supported."
        ) from error
    return {**tokens, _SPECIAL.pad: len(tokens)}


def _read_arrays(path: Path, name: str) -> dict[str, np.ndarray]:
    folder.read_bytes(path, name)
    try:
        with np.load(path / name) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except Exception as error:  # zipfile, zlib and NumPy raise many types
        raise ValueError(f"`{path / name}` is cut off or holds no arrays.") from error


def _options(content: np.ndarray | None, name: str) -> dict[str, Any]:
    """Options of the training, which are text in an array of bytes."""
    if content is None:
        raise ValueError(f"`{name}` must be the weights of a Marian model. It has no `{_OPTIONS}`.")
    return _parse_yaml(content.tobytes().rstrip(b"\0"), f"{name}: {_OPTIONS}")


def _number(entries: Mapping[str, Any], name: str, default: float = 0.0) -> float:
    try:
        return float(entries.get(name, default))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"`{name}` of the Marian model must be a number. Received: {name}={entries[name]!r}."
        ) from error


def _check(options: Mapping[str, Any], decoder: Mapping[str, Any]) -> None:
    wrong = [
        f"{name}={options[name]!r}"
        for name, known in _FORM.items()
        if options.get(name, known[0]) not in known
    ]
    wrong += [f"{name}={options.get(name)!r}" for name in _SIZES if _number(options, name) < 1]
    if _number(decoder, "word-penalty", 0.0):
        wrong.append(f"word-penalty={decoder['word-penalty']}")
    if wrong:
        raise ValueError(
            "The Marian model must have the form of the OPUS-MT models: a Transformer with "
            "normalisation after each sub-layer, relu or swish, and sinusoids as positions. "
            f"Received: {', '.join(wrong)}."
        )


def _weights(arrays: Mapping[str, np.ndarray], options: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Weights by their names in transformers."""
    depths = (int(_number(options, name)) for name in ("enc-depth", "dec-depth"))
    names = {ours: theirs for _, theirs, ours in names_in_blocks(*depths)}
    shared = "Wemb" if "Wemb" in arrays else ""
    tables = {f"model.{side}.embed_tokens.weight": shared or f"{side}_Wemb" for side in _SIDES}
    bias = f"{_LOGITS}_b"
    logits = [name for name in (f"{_LOGITS}_W", f"{_LOGITS}_Wt") if name in arrays]
    check_paths("The weights", {*names, *tables.values(), bias, *logits}, arrays)
    # Dense kernels are transposed in transformers, and vectors have one axis.
    found = {
        theirs: arrays[ours].reshape(-1) if len(arrays[ours]) == 1 else arrays[ours].T
        for ours, theirs in names.items()
    }
    found |= {theirs: _with_padding(arrays[ours]) for theirs, ours in tables.items()}
    for name in logits:
        matrix = arrays[name] if name.endswith("t") else arrays[name].T
        found["lm_head.weight"] = _with_padding(matrix)
    found["final_logits_bias"] = _with_padding(arrays[bias].reshape(-1, 1)).T
    return {name: np.asarray(array, np.float32) for name, array in found.items()}


def _with_padding(rows: np.ndarray) -> np.ndarray:
    return np.pad(rows, ((0, 1), (0, 0)))
