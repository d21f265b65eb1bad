import importlib
import inspect
import pkgutil

import keras_attn

# Checked by mypy; the last needs JAX.
FOLDERS = ("keras_attn.serving.", "keras_attn.translation.", "keras_attn.training.jax_backend.")
MODULES = [
    m.name
    for m in pkgutil.walk_packages(keras_attn.__path__, "keras_attn.")
    if not f"{m.name}.".startswith(FOLDERS)
]


def functions_of(module):
    """Public functions and methods that a module defines."""
    for name, member in vars(module).items():
        if getattr(member, "__module__", None) != module.__name__ or name.startswith("_"):
            continue
        methods = vars(member).items() if inspect.isclass(member) else [("", member)]
        for method, value in methods:
            value = getattr(value, "__func__", getattr(value, "fget", value))
            if inspect.isfunction(value) and (method == "__init__" or not method.startswith("_")):
                yield f"{module.__name__}.{name}.{method}", value


def is_annotated(function):
    signature = inspect.signature(function)
    parameters = [p for name, p in signature.parameters.items() if name not in ("self", "cls")]
    annotations = [p.annotation for p in parameters]
    return signature.empty not in (*annotations, signature.return_annotation)


def test_every_public_function_and_method_is_annotated():
    modules = [importlib.import_module(name) for name in MODULES]
    functions = [found for module in modules for found in functions_of(module)]
    assert len(functions) > 100
    assert [label for label, function in functions if not is_annotated(function)] == []
