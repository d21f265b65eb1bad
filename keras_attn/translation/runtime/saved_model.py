"""Signatures of a SavedModel, loaded with little memory and prepared in little time.

`tf.saved_model.load` keeps each function with a copy of all functions that it calls: 0.3 GiB of a
translator (benchmarks/results/serving.md).
"""

import contextlib
import itertools
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tensorflow as tf
from google.protobuf.message import DecodeError
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow.python.eager import context, execute
from tensorflow.python.framework import op_def_registry

_KINDS = {"user_object", "variable", "function", "bare_concrete_function"}
_numbers = itertools.count()
# Without the optimizer of graphs: it adds half to the time of a first call, and saves later calls 2
# to 6% (benchmarks/results/serving.md).
_CONFIG = tf.compat.v1.ConfigProto()
_CONFIG.graph_options.rewrite_options.disable_meta_optimizer = True


class UnknownPartError(Exception):
    """The SavedModel has other parts than functions and variables, or is damaged."""


class Signature:
    """Signature of a SavedModel, with the attributes of a concrete function of TensorFlow."""

    def __init__(self, library: "_Library", name: str, definition: Any, variables: list):
        self._library, self._name = library, name
        self.structured_input_signature = ((), _specs(definition.inputs))
        self.structured_outputs = _specs(definition.outputs)
        self.variables = variables

    def __call__(self, **inputs: Any) -> dict[str, tf.Tensor]:
        specs = self.structured_input_signature[1]
        if specs.keys() != inputs.keys():
            raise TypeError(
                f"A signature must be called with its inputs: {', '.join(specs)}. "
                f"Received: {', '.join(inputs) or 'none'}."
            )
        tensors = [tf.convert_to_tensor(inputs[name], spec.dtype) for name, spec in specs.items()]
        tensors += [variable.handle for variable in self.variables]
        outputs = self._library.call(self._name, tensors, len(self.structured_outputs))
        return dict(zip(self.structured_outputs, outputs, strict=True))


class SavedModel:
    """SavedModel of functions and variables: `signatures` by name, variables as attributes."""

    def __init__(self, folder: Path):
        meta = _read(folder)
        graph = meta.object_graph_def
        variables = _variables(folder, graph)
        root = {child.local_name: child.node_id for child in graph.nodes[0].children}
        for name, node in root.items():
            if node in variables:
                setattr(self, name, variables[node])
        library = _Library(meta.graph_def.library.function)
        signatures = {}
        for child in graph.nodes[root["signatures"]].children:
            node = graph.nodes[child.node_id].bare_concrete_function
            bound = graph.concrete_functions[node.concrete_function_name].bound_inputs
            signatures[child.local_name] = Signature(
                library,
                node.concrete_function_name,
                meta.signature_def[child.local_name],
                [variables[i] for i in bound],
            )
        self.signatures: dict[str, Signature | _PartOfSearch] = {**signatures}
        if search := signatures.get("search"):
            for name in signatures.keys() & {"serving_default", "glossary", "nbest"}:
                self.signatures[name] = _PartOfSearch(signatures[name], search)


class _PartOfSearch:
    """Signature of a translator, by its signature `search`: one graph is prepared for several."""

    def __init__(self, signature: Signature, search: Signature):
        self.structured_input_signature = signature.structured_input_signature
        self.structured_outputs = signature.structured_outputs
        self.variables = signature.variables
        self._search = search
        several = self.structured_outputs.get("translations")
        self._has_several = several is not None
        # Made once, not in each call: a short text takes only a few milliseconds.
        self._inputs = {
            "term": tf.constant([], tf.string),
            "term_translation": tf.constant([], tf.string),
            "num_best": tf.constant(several.shape[1] if several else 1),
            "scored": tf.constant(self._has_several),
        }

    def __call__(self, **inputs: Any) -> dict[str, tf.Tensor]:
        found = self._search(**{**self._inputs, **inputs})
        if self._has_several:
            return found
        return {"translation": tf.squeeze(found["translations"], axis=1)}


def load(folder: Path) -> Any:
    """A SavedModel with `signatures`, and with each weight on the device that is saved with it."""
    with contextlib.suppress(UnknownPartError):
        return SavedModel(folder)
    options = tf.saved_model.LoadOptions(experimental_variable_policy="save_variable_devices")
    return tf.saved_model.load(str(folder), options=options)


class _Library:
    """Functions that TensorFlow's runtime keeps as long as this object lives."""

    def __init__(self, functions: Any):
        self._suffix = f"_{next(_numbers)}"  # versions of a model have functions of the same names
        names = {one.signature.name: one.signature.name + self._suffix for one in functions}
        config = _CONFIG.SerializeToString()
        for function in functions:
            function.signature.name = names[function.signature.name]
            for node in function.node_def:
                node.op = names.get(node.op, node.op)
                for called in _called(node):
                    called.name = names.get(called.name, called.name)
                if "config_proto" in node.attr:
                    node.attr["config_proto"].s = config
            context.context().add_function_def(function)
        weakref.finalize(self, _remove, list(names.values())).atexit = False

    def call(self, name: str, inputs: list[tf.Tensor], num_outputs: int) -> list[tf.Tensor]:
        attributes = ("executor_type", "", "config_proto", _CONFIG.SerializeToString())
        return execute.execute(
            name + self._suffix, num_outputs, inputs, attributes, context.context()
        )


def _remove(names: list[str]) -> None:
    for name in names:
        context.context().remove_function(name)


def _called(node: Any) -> Iterator[Any]:
    """Functions in the attributes of a node."""
    for value in node.attr.values():
        if value.HasField("func"):
            yield value.func
        yield from value.list.func


def _read(folder: Path) -> Any:
    """Graph of a SavedModel, if it has functions and variables only."""
    try:
        saved = saved_model_pb2.SavedModel.FromString((folder / "saved_model.pb").read_bytes())
    except (OSError, DecodeError) as error:
        raise UnknownPartError from error
    if len(saved.meta_graphs) != 1:
        raise UnknownPartError
    (meta,) = saved.meta_graphs
    functions = meta.graph_def.library.function
    kinds = {node.WhichOneof("kind") for node in meta.object_graph_def.nodes}
    known = {one.signature.name for one in functions}
    operations = {node.op for one in functions for node in one.node_def} - known
    if not kinds or kinds - _KINDS or not all(map(op_def_registry.get, operations)):
        raise UnknownPartError
    return meta


def _variables(folder: Path, graph: Any) -> dict[int, tf.Variable]:
    """Variables by the number of their nodes."""
    found: dict[int, tf.Variable] = {}
    try:
        reader = tf.train.load_checkpoint(str(folder / "variables" / "variables"))
        left = set(reader.get_variable_to_shape_map())
        paths, todo = {0: ""}, [0]  # TensorFlow saves a variable by the shortest path to it
        for number in todo:  # nearest nodes first
            node = graph.nodes[number]
            if node.HasField("variable"):
                key = f"{paths[number]}.ATTRIBUTES/VARIABLE_VALUE"
                left.discard(key)
                with tf.device(node.variable.device or None):
                    found[number] = tf.Variable(
                        reader.get_tensor(key), trainable=False, name=node.variable.name
                    )
            for child in node.children:
                if child.node_id not in paths:
                    paths[child.node_id] = f"{paths[number]}{child.local_name}/"
                    todo.append(child.node_id)
        for key in left:  # so that a file that is cut off is refused wherever it ends
            reader.get_tensor(key)
    except tf.errors.OpError as error:
        raise UnknownPartError from error
    if len(found) < sum(node.HasField("variable") for node in graph.nodes):
        raise UnknownPartError
    return found


def _specs(fields: Any) -> dict[str, tf.TensorSpec]:
    return {
        name: tf.TensorSpec(info.tensor_shape, tf.dtypes.as_dtype(info.dtype), name)
        for name, info in sorted(fields.items())
    }
