"""URL paths of the REST API of TensorFlow Serving."""

import re
from collections.abc import Collection
from http import HTTPStatus
from typing import NamedTuple, NoReturn
from urllib.parse import unquote

from keras_attn.serving.errors import RequestError

_MODEL = r"/v1/models/(?P<name>[^/:]+)"
_VERSION = r"(?:/versions/(?P<version>[0-9]+)|/labels/(?P<label>[^/:]+))?"
_GET = re.compile(rf"{_MODEL}{_VERSION}(?P<metadata>/metadata)?", re.IGNORECASE)
_POST = re.compile(rf"{_MODEL}{_VERSION}:(?P<verb>classify|regress|predict)", re.IGNORECASE)


class Target(NamedTuple):
    """Operation, model and version that a path requests.

    Attributes:
        verb: `"status"`, `"metadata"`, `"predict"`, `"classify"` or `"regress"`; in `kserve`,
            `"metadata"`, `"ready"` or `"infer"`.
        model: Name of the model.
        version: Number of the version, or None for the served version.
    """

    verb: str
    model: str
    version: int | None


def parse(method: str, path: str, models: Collection[str]) -> Target:
    """Parse the method and path of a request.

    Args:
        method: HTTP method.
        path: Raw path, percent-encoded.
        models: Names of the served models.

    Raises:
        RequestError: If the path is not part of the API or names no served model.
    """
    form = {"GET": _GET, "HEAD": _GET, "POST": _POST}.get(method)
    match = form.fullmatch(path) if form else None
    if match is None:
        raise RequestError(f"Malformed request: {method} {path}")
    groups = match.groupdict()
    verb = groups.get("verb", "metadata" if groups.get("metadata") else "status").lower()
    version = None if groups["version"] is None else int(groups["version"])
    if version is not None and version >= 2**63:
        raise RequestError(f"Failed to convert version: {groups['version']} to numeric.")
    name = unquote(groups["name"])
    if name not in models:
        refuse_model(verb, name, version)
    if groups["label"] is not None:
        raise RequestError(f"Unrecognized servable version label: {unquote(groups['label'])}")
    return Target(verb, name, version)


def allowed(path: str) -> str:
    """Methods that a path supports, for the header `Allow`.

    Example:

    >>> allowed("/v1/models/ja-en:predict")
    'POST, OPTIONS'
    """
    return "POST, OPTIONS" if _POST.fullmatch(path) else "GET, HEAD, OPTIONS"


def refuse_model(verb: str, name: str, version: int | None) -> NoReturn:
    """Raise the error for a request that names no served model.

    Raises:
        RequestError: Always.
    """
    wanted = f"Latest({name})" if version is None else f"Specific({name}, {version})"
    message = f"Servable not found for request: {wanted}"
    if verb == "status":
        message = f"Could not find any versions of model {name}"
    raise RequestError(message, HTTPStatus.NOT_FOUND)
