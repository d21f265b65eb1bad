"""Sentence about packages that are not installed."""

from __future__ import annotations


def missing(packages: str, extra: str) -> str:
    """Sentence that packages are missing, with the command that installs the extra with them.

    Example:

    >>> print(missing("rich", "translation"))
    This needs `rich`, which `pip install "keras_attn[translation]"` installs (in a clone: \
`pip install -e ".[translation]"`).
    """
    return (
        f'This needs `{packages}`, which `pip install "keras_attn[{extra}]"` installs '
        f'(in a clone: `pip install -e ".[{extra}]"`).'
    )
