"""What a request is refused with."""

from __future__ import annotations

from http import HTTPStatus


class RequestError(Exception):
    """A request that cannot be answered.

    Args:
        message: One sentence for the caller.
        status: Of the HTTP response. Defaults to 400.
        retry_after: Seconds after which the caller may try again, or nothing.
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
        """Of the HTTP response."""
        return {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
