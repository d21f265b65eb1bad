"""Sentences about packages that are not installed."""

from __future__ import annotations


def missing(packages: str, extra: str) -> str:
    """Sentence that packages are missing, with the command that installs them.

    Args:
        packages: Names of the missing packages.
        extra: Extra of keras_attn that has the packages.

    Example:

    >>> print(missing("rich", "translation"))
    This needs `rich`, which `pip install "keras_attn[translation]"` installs (in a clone: \
`pip install -e ".[translation]"`).
    """
    return (
        f'This needs `{packages}`, which `pip install "keras_attn[{extra}]"` installs '
        f'(in a clone: `pip install -e ".[{extra}]"`).'
    )


def no_backend(backend: str) -> str:
    """Sentence that the backend of Keras is not installed.

    Args:
        backend: Name of the package, such as `"tensorflow"`.
    """
    return (
        f"Keras runs on `{backend}`, which is not installed: install it, or set the environment "
        "variable KERAS_BACKEND to one that is (`tensorflow`, `jax` or `torch`)."
    )
