"""Errors of fetching urls."""

from typing import Literal

from foundry.documents.reasons import AnyReason


class FetchError(Exception):
    """A url yielded no content.

    Reports count urls by `reason`; `detail` is more specific. `kind` is "refused" if the url was
    not wanted or not allowed, "failed" if the request failed. `retry_after` is how many seconds the
    server asks to wait, and `status` the status of its response.
    """

    def __init__(
        self,
        reason: AnyReason,
        detail: str = "",
        *,
        kind: Literal["refused", "failed"] = "failed",
        is_temporary: bool = False,
        retry_after: float | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(f"{reason}: {detail}" if detail else str(reason))
        self.reason = reason
        self.detail = detail
        self.kind: Literal["refused", "failed"] = kind
        self.is_temporary = is_temporary
        self.retry_after = retry_after
        self.status = status


def refused(reason: AnyReason, detail: str = "") -> FetchError:
    """Return the error for a url that is not wanted or not allowed."""
    return FetchError(reason, detail, kind="refused")


class StoppedError(Exception):
    """The build was stopped during a fetch."""
