"""Files of a Marian model, in the form that transformers writes."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import safetensors
import yaml

from keras_attn.translation.importing.vocabulary import SpecialTokens

CONFIG = "config.json"
SOURCE_MODEL, TARGET_MODEL = "source.spm", "target.spm"
_PICKLE = "pytorch_model.bin"
# Floating-point types of safetensors.
_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": ml_dtypes.bfloat16}


class Files(NamedTuple):
    """Contents of the files of a Marian model, without its SentencePiece models."""

    config: dict[str, Any]
    generation: dict[str, Any]  # content of `generation_config.json`
    vocabularies: tuple[dict[str, int], ...]  # ids of the tokens of source and target
    names: tuple[str, ...]  # of the files of the vocabularies
    special: SpecialTokens
    source: str  # language code, or an empty string
    target: str
    weights: Mapping[str, np.ndarray]  # by their names in transformers


def read(path: Path) -> Files:
    """Files of a model that transformers wrote; `ValueError` for one that cannot be read."""
    config = read_json(path, CONFIG)
    of_tokenizer = read_json(path, "tokenizer_config.json", needed=False)
    defaults = {"pad_token": "<pad>", "unk_token": "<unk>", "eos_token": "</s>"}
    tokens = [of_tokenizer.get(name, default) for name, default in defaults.items()]
    is_shared = config.get("share_encoder_decoder_embeddings") is not False
    names = ("vocab.json", "vocab.json" if is_shared else "target_vocab.json")
    return Files(
        config,
        read_json(path, "generation_config.json", needed=False),
        tuple(read_json(path, name) for name in names),
        names,
        # A token may be an object with further entries.
        SpecialTokens(*(t["content"] if isinstance(t, dict) else t for t in tokens)),
        of_tokenizer.get("source_lang") or "",
        of_tokenizer.get("target_lang") or "",
        read_weights(path),
    )


def read_json(folder: Path, name: str, needed: bool = True) -> dict[str, Any]:
    """Content of a JSON file of a folder; nothing for a missing file that is not `needed`."""
    if not needed and not (folder / name).is_file():
        return {}
    return mapping(read_bytes(folder, name), f"{folder / name}", "JSON", json.loads)


def mapping(content: bytes, name: str, form: str, parse: Callable[[str], Any]) -> dict[str, Any]:
    """Mapping in a file of JSON or YAML."""
    try:
        found = parse(content.decode("utf-8-sig"))
    except (ValueError, yaml.YAMLError) as error:
        raise ValueError(f"`{name}` must be a file of {form} but cannot be read.") from error
    if not isinstance(found, dict):
        raise ValueError(f"`{name}` must be a mapping of {form}. Received: {type(found)}.")
    return found


def read_bytes(folder: Path, name: str) -> bytes:
    """Content of a file of a folder, or a `ValueError` if it is missing."""
    if not (folder / name).is_file():
        raise ValueError(f"`{folder}` must be the folder of a Marian model. There is no `{name}`.")
    return (folder / name).read_bytes()


def read_weights(folder: Path) -> dict[str, np.ndarray]:
    """Weights by their names in transformers, in float32."""
    for name, read_file in (("model.safetensors", _read_safetensors), (_PICKLE, _read_pickle)):
        if (folder / name).is_file():
            return read_file(folder / name)
    raise ValueError(
        f"`{folder}` must be the folder of a Marian model. There is no `model.safetensors` and no "
        f"`{_PICKLE}`."
    )


def _read_safetensors(path: Path) -> dict[str, np.ndarray]:
    try:
        # Not `safetensors.numpy`, which cannot read bfloat16.
        found = safetensors.deserialize(path.read_bytes())
    except safetensors.SafetensorError as error:
        raise ValueError(f"`{path}` is cut off or is not a safetensors file ({error}).") from error
    return {
        name: np.frombuffer(tensor["data"], _DTYPES[tensor["dtype"]])
        .astype(np.float32)
        .reshape(tensor["shape"])
        for name, tensor in found
        if tensor["dtype"] in _DTYPES
    }


def _read_pickle(path: Path) -> dict[str, np.ndarray]:
    try:
        import torch
    except ImportError as error:
        raise ValueError(
            f"`{path}` is read by PyTorch, which is not installed. Install it with: "
            "pip install torch."
        ) from error
    try:
        # Only tensors: a pickle could run any program.
        found = torch.load(path, map_location="cpu", weights_only=True)
        return {name: np.asarray(tensor.float()) for name, tensor in found.items()}
    except Exception as error:  # torch, pickle and zipfile raise many types
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ValueError(f"`{path}` is cut off or holds no tensors ({reason}).") from error
