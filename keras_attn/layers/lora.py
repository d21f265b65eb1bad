"""Low-rank adapters (LoRA) of a layer's or model's projections."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from keras import ops

from keras_attn.layers.checks import check_positive_integer, check_positive_number
from keras_attn.layers.dense import Projection
from keras_attn.layers.layer import walk_sublayers


class Adaptable:
    """Methods of layers and models whose projections can get low-rank adapters.

    A projection with kernel `W` computes `x W + (alpha / rank) x A B` (Hu et al. 2021, section
    4.1). Only `A` and `B` are trained.
    """

    name: str
    built: bool

    def enable_lora(
        self,
        rank: int,
        lora_alpha: float | None = None,
        names: Sequence[str] = ("query", "value"),
    ) -> None:
        """Add adapters to the projections with these names; freeze all other weights.

        Args:
            rank: Rank of the adapters, a positive integer.
            lora_alpha: Scale of the adapters, above 0. Defaults to `rank`.
            names: Names of projections: `"query"`, `"key"`, `"value"`, `"output"`, `"gate"`,
                `"inner"`, `"outer"` or `"logits"`.

        Raises:
            ValueError: If an argument is invalid, this is not built, no projection has such a
                name, or a projection has an adapter of another rank.
        """
        rank = check_positive_integer("rank", rank)
        alpha = rank if lora_alpha is None else check_positive_number("lora_alpha", lora_alpha)
        if not self.built:
            raise ValueError(
                f"Build {self.name!r} before `enable_lora`, for instance by calling it on data. "
                f"Received: {self.name}.built=False."
            )
        projections = _projections(self).values()
        known = {child.name for child in projections}
        if not set() < set(names) <= known:
            raise ValueError(
                f"`names` must be among the projections of {self.name!r}, {sorted(known)}. "
                f"Received: names={tuple(names)!r}."
            )
        chosen = [child for child in projections if child.name in names]
        ranks = {child.lora_rank for child in chosen if child.lora_enabled}
        if ranks - {rank}:
            raise ValueError(
                f"`rank` must be that of the adapters that {self.name!r} has already. "
                f"Received: rank={rank}, adapters of rank {sorted(ranks)}."
            )
        for child in chosen:
            if not child.lora_enabled:
                child.enable_lora(rank, lora_alpha=alpha)
        _freeze_all_but_adapters(self)

    def save_lora_weights(self, path: str | os.PathLike) -> None:
        """Save the adapters alone, as a NumPy archive.

        Raises:
            ValueError: If LoRA is not enabled, or `path` does not end in ".npz".
        """
        arrays = {}
        for name, child in _projections(self).items():
            if child.lora_enabled:
                arrays[f"{name}/a"] = ops.convert_to_numpy(child.lora_kernel_a)
                arrays[f"{name}/b"] = ops.convert_to_numpy(child.lora_kernel_b)
                arrays[f"{name}/alpha"] = np.float64(child.lora_alpha)
        if not arrays:
            raise ValueError(
                f"Call `enable_lora` before `save_lora_weights`. Received: {self.name!r} without "
                "adapters."
            )
        _check_path(path)
        np.savez(path, **arrays)

    def load_lora_weights(self, path: str | os.PathLike) -> None:
        """Load adapters that `save_lora_weights` saved, and enable LoRA where it is not.

        Raises:
            ValueError: If names or sizes of the adapters do not fit. Nothing is changed then.
        """
        _check_path(path)
        with np.load(path, allow_pickle=False) as archive:
            arrays = dict(archive)
        names = sorted({name.rpartition("/")[0] for name in arrays})
        projections = _projections(self)
        for name in names:
            child, a, b = projections.get(name), arrays[f"{name}/a"], arrays[f"{name}/b"]
            rank = a.shape[-1]
            if (
                child is None
                or (a.shape[0], b.shape[1]) != tuple(child.kernel.shape)
                or child.lora_rank not in (None, rank)
            ):
                raise ValueError(
                    f"`path` must hold adapters of {self.name!r}. Received: adapters of rank "
                    f"{rank} for {name!r}, which is missing here or has another size or rank."
                )
        for name in names:
            child, a, b = projections[name], arrays[f"{name}/a"], arrays[f"{name}/b"]
            if not child.lora_enabled:
                child.enable_lora(a.shape[-1])
            child.lora_alpha = float(arrays[f"{name}/alpha"])
            child.lora_kernel_a.assign(a)
            child.lora_kernel_b.assign(b)
        _freeze_all_but_adapters(self)


def _projections(layer: Any) -> dict[str, Projection]:
    """Projections below `layer` by path."""
    return {path: x for path, x in walk_sublayers(layer) if isinstance(x, Projection)}


def _freeze_all_but_adapters(layer: Any) -> None:
    for child in layer._flatten_layers():
        is_adapted = getattr(child, "lora_enabled", False)
        if is_adapted or child._flatten_layers(include_self=False):
            for variable in child._trainable_variables:
                if not variable.name.startswith("lora_"):
                    variable.trainable = False
        elif child._trainable_variables:
            child.trainable = False


def _check_path(path: str | os.PathLike) -> None:
    if not os.fspath(path).endswith(".npz"):
        raise ValueError(f'`path` must end in ".npz". Received: path={os.fspath(path)!r}.')
