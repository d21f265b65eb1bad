"""Error for requests that the server refuses."""

from http import HTTPStatus

CLIENT_CLOSED_REQUEST = 499  # as in TensorFlow Serving; visible only in logs and metrics
RETRY_AFTER = 1  # seconds, for a server that is busy or still loads a model


class RequestError(Exception):
    """Error that becomes an HTTP error response.

    Args:
        message: Message for the client, one sentence.
        status: Status of the HTTP response. Defaults to 400.
        retry_after: Seconds after which the client may retry, or None for no `Retry-After` header.
            Defaults to None.
    """

    def __init__(
        self,
        message: str,
        status: HTTPStatus = HTTPStatus.BAD_REQUEST,
        retry_after: int | None = None,
    ):
        super().__init__(message)
        self.message = message
        self.status = status
        self.retry_after = retry_after

    @property
    def headers(self) -> dict[str, str]:
        """Headers of the HTTP response."""
        return {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
