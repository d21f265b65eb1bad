import importlib
import inspect
import pkgutil

import keras_attn

FOLDERS = ("serving", "translation")  # checked by mypy
MODULES = [m.name for m in pkgutil.iter_modules(keras_attn.__path__) if m.name not in FOLDERS]


def functions_of(module):
    """Public functions and methods that a module defines."""
    for name, member in vars(module).items():
        if getattr(member, "__module__", None) != module.__name__ or name.startswith("_"):
            continue
        if inspect.isfunction(member):
            yield name, member
        elif inspect.isclass(member):
            for method, value in vars(member).items():
                value = getattr(
                    value, "__func__", value.fget if isinstance(value, property) else value
                )
                if inspect.isfunction(value) and (method == "__init__" or method[0] != "_"):
                    yield f"{name}.{method}", value


def test_every_public_function_and_method_is_annotated():
    bare = []
    functions = [
        (f"{name}.{label}", function)
        for name in MODULES
        for label, function in functions_of(importlib.import_module(f"keras_attn.{name}"))
    ]
    assert len(functions) > 100
    for label, function in functions:
        signature = inspect.signature(function)
        parameters = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
        if signature.return_annotation is signature.empty or any(
            p.annotation is p.empty for p in parameters
        ):
            bare.append(label)
    assert bare == []


def test_the_version_is_that_of_the_package():
    assert keras_attn.__version__ == importlib.metadata.version("keras_attn")
