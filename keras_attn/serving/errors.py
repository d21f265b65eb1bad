"""Error for requests that the server refuses."""

import json
from http import HTTPStatus

FAILED = "The server failed to answer. See the log of the server for the reason."
CLIENT_CLOSED_REQUEST = 499  # as in TensorFlow Serving; visible only in logs and metrics
RETRY_AFTER = 1  # seconds, for a server that is busy or still loads a model
MAX_BYTES = 1000  # of an error as JSON
# Characters of a longer message that are kept. The longest character in JSON has 6 bytes.
_KEPT = 150


class RequestError(Exception):
    """Error that becomes an HTTP error response with one sentence for the client.

    Only the beginning of a sentence is kept if it is longer than `MAX_BYTES`.
    """

    def __init__(
        self,
        message: str,
        status: HTTPStatus = HTTPStatus.BAD_REQUEST,
        retry_after: int | None = None,
    ):
        document = json.dumps({"error": message}, ensure_ascii=False)
        if len(document.encode("utf-8", "replace")) > MAX_BYTES:
            message = message[:_KEPT] + "..."
        super().__init__(message)
        self.message = message
        self.status = status
        self.headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
