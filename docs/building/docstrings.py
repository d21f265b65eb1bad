"""Extension of griffe: docstrings of this project as sections and blocks that the site can show."""

from __future__ import annotations

import re
from typing import Any

import griffe

# A section of its own, with the arguments of a call as a table.
CALL_ARGUMENTS = re.compile(r"^Call arguments:$", re.MULTILINE)
DOCTEST = re.compile(r"^>>> .*(?:\n(?!$).*)*", re.MULTILINE)


class Docstrings(griffe.Extension):
    """Call arguments become a section, and examples become code blocks."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            text = CALL_ARGUMENTS.sub("Other Args: Call arguments", obj.docstring.value)
            obj.docstring.value = DOCTEST.sub(r"```python\n\g<0>\n```", text)
