"""Graph of a SavedModel in less space: the same results, half the bytes, fewer nodes.

Fewer nodes take less memory in each process that loads the model (benchmarks/results/serving.md).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tensorflow.core.protobuf import saved_model_pb2
from tensorflow.python.framework import op_def_registry
from tensorflow.python.saved_model import fingerprinting_utils

_LEFT_OUT = {"_output_shapes", "_class"}  # shapes, and names of nodes to be near to


def make_small(folder: Path) -> None:
    """Rewrite the functions of the SavedModel in `folder`.

    In each function, equal nodes become one, arguments and nodes have short names, and shapes that
    TensorFlow infers again are left out.
    """
    path = folder / "saved_model.pb"
    saved = saved_model_pb2.SavedModel.FromString(path.read_bytes())
    for meta in saved.meta_graphs:
        for function in meta.graph_def.library.function:
            for node in function.node_def:
                node.ClearField("experimental_debug_info")
                for name in _LEFT_OUT & set(node.attr):
                    del node.attr[name]
            for attributes in function.arg_attr.values():
                attributes.attr.pop("_user_specified_name", None)
            _merge_equal(function)
            _shorten_names(function)
    path.write_bytes(_bytes(saved))
    fingerprinting_utils.write_fingerprint(str(folder))


def _merge_equal(function: Any) -> None:
    """Let the first of equal nodes without a state stand for all of them."""
    first: dict[Any, str] = {}
    merged: dict[str, str] = {}
    kept = []
    for node in function.node_def:  # as they were made: after their inputs
        inputs = [_renamed(one, merged) for one in node.input]
        definition = op_def_registry.get(node.op)
        if definition and not definition.is_stateful:
            values = {name: _bytes(value) for name, value in node.attr.items()}
            key = node.op, node.device, *inputs, frozenset(values.items())
            if (name := first.setdefault(key, node.name)) != node.name:
                merged[node.name] = name
                continue
        kept.append(type(node).FromString(_bytes(node)))
    del function.node_def[:]
    function.node_def.extend(kept)
    _rename(function, merged)


def _shorten_names(function: Any) -> None:
    # Arguments have small letters, operations begin with a capital one.
    names = {node.name: f"{node.op}_{n}" for n, node in enumerate(function.node_def)}
    arguments = function.signature.input_arg
    names |= {argument.name: f"a{n}" for n, argument in enumerate(arguments)}
    for named in (*function.node_def, *arguments):
        named.name = names[named.name]
    _rename(function, names)


def _rename(function: Any, names: Mapping[str, str]) -> None:
    """Replace the names of nodes wherever a node or an output of the function refers to them."""
    for node in function.node_def:
        values = [_renamed(one, names) for one in node.input if not one.startswith("^")]
        before = dict.fromkeys(_renamed(one, names) for one in node.input if one.startswith("^"))
        del node.input[:]
        node.input.extend([*values, *before])
    for references in (function.ret, function.control_ret):
        for key in list(references):
            references[key] = _renamed(references[key], names)


def _renamed(reference: str, names: Mapping[str, str]) -> str:
    """A reference `name`, `name:output:0`, or `^name` to a node that only comes before."""
    name, colon, output = reference.removeprefix("^").partition(":")
    return f"{'^' * reference.startswith('^')}{names.get(name, name)}{colon}{output}"


def _bytes(message: Any) -> bytes:
    return message.SerializeToString(deterministic=True)
