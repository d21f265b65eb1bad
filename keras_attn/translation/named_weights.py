"""Weights of a model or of an exported version by their paths in the model.

The query, key and value kernels have one shape, so a copy by order could exchange them unnoticed.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import keras
import numpy as np

from keras_attn.layers.transformer import Transformer
from keras_attn.translation import versions


def of_model(model: Transformer) -> dict[str, np.ndarray]:
    """Weights of a built model.

    >>> model = Transformer.from_sizes(5, 6, 1, 1, 4, 8, 2)
    >>> model.build(((None, None), (None, None)))
    >>> of_model(model)["decoder/block_0/cross_attention/query/kernel"].shape
    (4, 4)
    """
    return {path: np.asarray(weight) for path, weight in by_path(model.weights).items()}


def of_version(version: Path) -> dict[str, np.ndarray]:
    """Weights of an exported version, in float32."""
    # The signature "score" uses all weights of the model, and no other variables.
    found = versions.load(version, ["score"]).signatures["score"].variables
    return {path_in_model(v.name): np.asarray(v, np.float32) for v in found if v.dtype.is_floating}


def by_path(variables: Iterable[keras.Variable]) -> dict[str, keras.Variable]:
    """Variables of a built model by their paths, which must differ."""
    found: dict[str, keras.Variable] = {}
    twice = []
    for variable in variables:
        path = path_in_model(variable.path)
        twice += [path] * (path in found)
        found[path] = variable
    if twice:
        raise ValueError(
            "Weights are copied by path, so each weight of a model must have a path of its own. "
            f"Received twice: {named(twice)}. Give the layers different names."
        )
    return found


def assign(variables: Iterable[keras.Variable], values: Mapping[str, np.ndarray]) -> None:
    """Give the variables of a built model the values of the same paths, all or none."""
    ours = by_path(variables)
    check_paths("The weights", ours, values)
    shapes = [
        f"{path} {tuple(values[path].shape)} for {tuple(variable.shape)}"
        for path, variable in ours.items()
        if tuple(values[path].shape) != tuple(variable.shape)
    ]
    if shapes:
        raise ValueError(
            f"The weights must have the shapes of the model. Received: {named(shapes)}."
        )
    for path, variable in ours.items():
        variable.assign(values[path])


def check_paths(what: str, expected: Iterable[str], received: Iterable[str]) -> None:
    """Raise a `ValueError` that names missing and unknown paths, if there are any."""
    ours, theirs = set(expected), set(received)
    if ours != theirs:
        raise ValueError(
            f"{what} must be those of this model. Received: missing {named(ours - theirs)}; "
            f"unknown {named(theirs - ours)}."
        )


def named(paths: Iterable[str]) -> str:
    """The first three paths and the number of the others."""
    first, more = sorted(paths)[:3], len(set(paths)) - 3
    return (", ".join(first) or "none") + (f" and {more} more" if more > 0 else "")


def path_in_model(name: str) -> str:
    """Path of a variable below the model, without the name of the model itself."""
    parts = name.removesuffix(":0").split("/")
    stacks = (i for i, part in enumerate(parts) if part in ("encoder", "decoder"))
    first = next(stacks, min(1, len(parts) - 1))
    return "/".join(parts[first:])
