"""Base class of all layers: state of sub-layers, checks of inputs, seeds of dropout."""

import functools
import inspect
import re
import zlib
from collections.abc import Iterator
from typing import Any

import keras
from keras import ops
from keras.dtype_policies import DTypePolicyMap

from keras_attn.habits import bind, check_constructor, no_attribute, wrong_names
from keras_attn.layers.checks import (
    check_features,
    check_first_input,
    check_seed,
    check_symbolic_dtypes,
)
from keras_attn.layers.dropout import Dropout

# Arguments of Keras's own constructor.
OF_KERAS = ("activity_regularizer", "trainable", "dtype", "autocast", "name", "input_shape")


class Explained:
    """Base class of layers and models that say what to write in place of another library's form."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        check_constructor(cls, args, kwargs)
        return super().__new__(cls, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)  # type: ignore[misc]  # of PyTorch
        except AttributeError:
            raise no_attribute(type(self).__name__, name) from None


class Layer(Explained, keras.layers.Layer):
    """A Keras layer whose sub-layers keep their state when it is saved, loaded or cloned.

    Keras rebuilds a layer from its configuration. The configuration of this layer therefore holds
    what was changed in its sub-layers after construction: frozen sub-layers, LoRA adapters and the
    dtype policies of quantized sub-layers.

    Args:
        seed: Seed of all dropout masks, an integer of at least 0. Each sub-layer gets another seed,
            derived from this one. Defaults to None, a random seed.
        sublayers: State of sub-layers by path, as `get_config` returns it. Not for users.
        **kwargs: Keras's own arguments, such as `name`, `dtype` and `trainable`.
    """

    def __init__(
        self,
        *,
        seed: int | None = None,
        sublayers: dict[str, dict[str, Any]] | None = None,
        **kwargs: Any,
    ) -> None:
        unknown = [name for name in kwargs if name not in OF_KERAS]
        if unknown:
            allowed = [name for one in type(self).__mro__ for name in arguments_of(one)]
            raise wrong_names(type(self).__name__, unknown, allowed, kwargs)
        super().__init__(**kwargs)
        self.seed = check_seed("seed", seed)
        # Keras's tracking would wrap the dict.
        object.__setattr__(self, "_saved_state", dict(sublayers or {}))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if args:
            check_first_input(type(self).__name__, args[0])
        given = bind(type(self).__name__, self._call_signature, args, kwargs)
        if self.built:
            self._check_sizes(given)
        if any(isinstance(x, list | bool) for x in args[1:]):  # Keras takes tensors by position
            args, kwargs = args[:1], {**kwargs, **dict(list(given.items())[1:])}
        return super().__call__(*args, **kwargs)

    def _check_sizes(self, arguments: dict[str, Any]) -> None:
        """Check the last axes of inputs against the shapes that the layer was built with."""
        for argument, built in (self._build_shapes_dict or {}).items():
            name = argument.removesuffix("_shape")
            shape = getattr(arguments.get(name), "shape", None)
            is_vector = name != "ids" and isinstance(built, list | tuple) and len(built) > 2
            if is_vector and shape is not None and len(shape) == len(built) and built[-1]:
                check_features(name, shape, built[-1])

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        # Traces `call`: its results depend on more than shapes, the only arguments of
        # `compute_output_shape`.
        check_symbolic_dtypes(self._call_signature.bind(*args, **kwargs).arguments)
        return super(keras.layers.Layer, self).compute_output_spec(*args, **kwargs)

    def rematerialized_call(self, layer_call: Any, *args: Any, **kwargs: Any) -> Any:
        # Flags such as `use_causal_mask` are bound first: JAX would trace them, but `call` branches
        # on them.
        flags = {n: x for n, x in kwargs.items() if x is None or isinstance(x, bool | int | str)}
        tensors = {name: x for name, x in kwargs.items() if name not in flags}
        call = functools.partial(layer_call, **flags)
        rematerialized = super().rematerialized_call(call, *args, **tensors)

        def call_with_tensors(*args: Any, **kwargs: Any) -> Any:
            return rematerialized(*args, **{name: kwargs[name] for name in tensors})

        return call_with_tensors

    def _to_float(self, x: Any) -> Any:
        """Cast integers and booleans to the compute dtype; Keras casts floats only."""
        if x is None or "float" in keras.backend.standardize_dtype(x.dtype):
            return x
        return ops.cast(x, self.compute_dtype)

    def _seed_for(self, name: str) -> int | None:
        # Equal seeds would drop the same elements in tensors of equal shape. 31 bits: seeds are
        # int32 on PyTorch.
        if self.seed is None:
            return None
        return zlib.crc32(f"{self.seed}/{name}".encode()) & 0x7FFFFFFF

    def _make_dropout(self, rate: float) -> Dropout:
        seed = self._seed_for("dropout")
        return Dropout(rate, seed=seed, name="dropout", dtype=self.dtype_policy)

    def _post_build(self) -> None:
        """Restore the state of sub-layers from the configuration."""
        super()._post_build()
        freeze_if_frozen(self)
        restore_sublayers(self, self._saved_state)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructors: each is an attribute of that name."""
        config = {**super().get_config(), "seed": self.seed}
        classes = type(self).__mro__
        for layer_class in classes[: classes.index(Layer)]:
            for name in arguments_of(layer_class):
                if hasattr(self, name):
                    config[name] = _serialized(getattr(self, name))
        state = state_of_sublayers(self) if self.built or self.trainable else {}
        if not self.built:  # sub-layers made by `build` do not exist yet
            state = {**self._saved_state, **state}
        if state:
            config["sublayers"] = state
        policies = quantized_policies(self)
        if policies:
            default = self.dtype_policy
            if isinstance(default, DTypePolicyMap):
                default = default.default_policy
            # Patterns, because the path of this layer differs from model to model.
            patterns = {f"(?:.*/)?{re.escape(path)}": policies[path] for path in policies}
            policy_map = DTypePolicyMap(default, patterns)
            config["dtype"] = keras.saving.serialize_keras_object(policy_map)
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        config = dict(config)
        for name, value in config.items():
            if isinstance(value, dict) and "class_name" in value and name != "dtype":
                config[name] = keras.saving.deserialize_keras_object(value)
        return super().from_config(config)


def arguments_of(layer_class: type) -> list[str]:
    """Return the names of the arguments of the constructor of one class."""
    parameters = list(inspect.signature(layer_class.__init__).parameters.values())[1:]  # type: ignore[misc]
    return [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def _serialized(value: Any) -> Any:
    """A part of a configuration: an activation by its name, an object by its configuration."""
    if callable(value) and not hasattr(value, "get_config"):
        return keras.activations.serialize(value)
    return keras.saving.serialize_keras_object(value)


def walk_sublayers(
    layer: keras.layers.Layer, prefix: str = ""
) -> Iterator[tuple[str, keras.layers.Layer]]:
    """Yield all sub-layers with their paths below `layer`, such as `"block_0/feed_forward"`.

    Paths consist of attribute names: names of layers may be numbered by Keras.
    """
    attributes = {**vars(layer), **vars(layer).get("_modules", {})}  # PyTorch keeps layers apart
    names = {id(value): name.lstrip("_") for name, value in attributes.items()}
    for child in layer._flatten_layers(include_self=False, recursive=False):
        child_path = prefix + names.get(id(child), child.name)
        yield child_path, child
        yield from walk_sublayers(child, f"{child_path}/")


def state_of_sublayers(layer: keras.layers.Layer) -> dict[str, dict[str, Any]]:
    """Return, by path, the state of `layer` and its sub-layers that constructors do not know.

    - `trainable`, if it differs from `trainable` of the layer above.
    - `frozen`: names of weights that are frozen in a trainable layer.
    - Rank and scale of LoRA, if it is enabled.
    - Configuration of quantizers, if it is not Keras's default.
    """
    state: dict[str, dict[str, Any]] = {}
    layers = {"": layer, **dict(walk_sublayers(layer))}
    for path, child in layers.items():
        changed: dict[str, Any] = {}
        if child.trainable != layers[path.rpartition("/")[0]].trainable:
            changed["trainable"] = child.trainable
        frozen = [v.name for v in child._trainable_variables if not v.trainable]
        if child.trainable and frozen:
            changed["frozen"] = frozen
        if getattr(child, "lora_enabled", False):
            changed["lora_rank"] = child.lora_rank
            changed["lora_alpha"] = child.lora_alpha
        if child.quantization_mode in ("int8", "int4") and child.quantization_config is not None:
            config = keras.saving.serialize_keras_object(child.quantization_config)
            changed["quantization_config"] = config
        if changed:
            state[path] = changed
    return state


def restore_sublayers(layer: keras.layers.Layer, state: dict[str, dict[str, Any]]) -> None:
    """Set the state that `state_of_sublayers` returned."""
    if not state:
        return
    layers = [("", layer), *walk_sublayers(layer)]
    saved = [(child, state.get(path, {})) for path, child in layers]
    for child, of_child in saved:
        if "trainable" in of_child:
            child.trainable = of_child["trainable"]
        if "quantization_config" in of_child:
            config = keras.saving.deserialize_keras_object(of_child["quantization_config"])
            child.quantization_config = config
            child.inputs_quantizer = config.activation_quantizer
    for child, of_child in saved:
        if "lora_rank" in of_child and not child.lora_enabled:
            child.enable_lora(of_child["lora_rank"], lora_alpha=of_child["lora_alpha"])
    # Last, because `trainable` and `enable_lora` set the flags of weights too.
    for child, of_child in saved:
        if child.trainable:
            for variable in child._trainable_variables:
                variable.trainable = variable.name not in of_child.get("frozen", ())


def freeze_if_frozen(layer: keras.layers.Layer) -> None:
    """Freeze weights and sub-layers that were made after the layer itself was frozen."""
    if not layer.trainable:
        layer.trainable = True  # Keras ignores an assignment that changes nothing
        layer.trainable = False


def quantized_policies(layer: keras.layers.Layer, prefix: str = "") -> dict[str, Any]:
    """Return the dtype policies of quantized sub-layers by paths of layer names below `layer`."""
    policies = {}
    for child in layer._flatten_layers(include_self=False, recursive=False):
        child_path = prefix + child.name
        if child.quantization_mode is not None:
            policy = child.dtype_policy
            by_path = isinstance(policy, DTypePolicyMap)
            policies[child_path] = policy[child.path] if by_path else policy
        policies |= quantized_policies(child, f"{child_path}/")
    return policies
