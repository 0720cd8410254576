"""Connects to Qdrant and translates its errors."""

import math
import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit
from urllib.request import url2pathname

from qdrant_client import QdrantClient
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import (
    ApiException,
    ResponseHandlingException,
    UnexpectedResponse,
)

from ...errors import ConfigurationError
from ..settings import StoreSettings, read_address
from ..store import StoreError, StoreSlowError, StoreUnreachableError, VersionMissingError


def open_client(settings: StoreSettings) -> QdrantClient:
    """Return a client for QDRANT_URL, with QDRANT_API_KEY if that is set.

    A file:// URL selects the client's local mode in a folder, for one process at a time: suitable
    for trials, not for serving. Raises ConfigurationError.
    """
    address = read_address("QDRANT_URL", "http://localhost:6333")
    parts = urlsplit(address)
    if parts.scheme == "file":
        return QdrantClient(path=url2pathname(parts.path))
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username:
        raise ConfigurationError(
            "QDRANT_URL must be http or https, without a user",
            hint="set it, such as QDRANT_URL=http://localhost:6333, and QDRANT_API_KEY too",
        )
    key = os.environ.get("QDRANT_API_KEY", "").strip() or None
    # Reading the certificates that the system trusts takes longer than a query; http needs none.
    verify = True if parts.scheme == "https" else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # A compatibility check would immediately ask the server for its version.
    return QdrantClient(
        url=address,
        api_key=key,
        timeout=whole_seconds(settings),
        check_compatibility=False,
        verify=verify,
    )


def whole_seconds(settings: StoreSettings) -> int:
    """Return the timeout in whole seconds, as Qdrant expects, rounded up."""
    return math.ceil(settings.timeout)


def is_local_mode() -> bool:
    """Return whether QDRANT_URL selects the client's local mode."""
    return os.environ.get("QDRANT_URL", "").strip().startswith("file:")


@contextmanager
def translated(version: str) -> Iterator[None]:
    """Translate errors of Qdrant to StoreError."""
    try:
        yield
    except UnexpectedResponse as error:
        if error.status_code == 404:
            raise missing_version(version) from None
        if error.status_code in {408, 504}:
            raise _slow(error) from None
        if error.status_code in {502, 503}:
            raise StoreUnreachableError(
                f"Qdrant cannot be reached: {error.status_code} {error.reason_phrase}",
                hint="check that it is running, and that no proxy or firewall blocks it",
            ) from None
        raise StoreError(
            f"Qdrant rejected a request: {error.status_code} {error.reason_phrase}",
            hint="check QDRANT_API_KEY and the state of the cluster",
        ) from None
    except ResponseHandlingException as error:
        if is_timeout(error):
            raise _slow(error.source) from None
        raise StoreUnreachableError(
            f"Qdrant cannot be reached: {error.source}", hint="start it, or correct QDRANT_URL"
        ) from None
    except ResourceExhaustedResponse as error:
        raise StoreError(
            f"Qdrant rejected a request, because a limit is exceeded: {error.message}",
            hint="check the limits of the collection and of the cluster",
        ) from None
    except ApiException as error:
        raise StoreError(f"Qdrant failed: {error}", hint="see the log of the engine") from None
    except ValueError as error:
        # The client's local mode raises this error if the collection does not exist.
        if "not found" not in str(error):
            raise
        raise missing_version(version) from None


def is_timeout(error: ResponseHandlingException) -> bool:
    """Return whether the call timed out."""
    # Compared by name: `source` is an error of an HTTP library that the client may replace.
    return any("Timeout" in kind.__name__ for kind in type(error.source).__mro__)


def _slow(error: Exception) -> StoreSlowError:
    return StoreSlowError(
        f"Qdrant did not respond in time: {type(error).__name__}",
        hint="check its load, or increase store.timeout_ms",
    )


def missing_version(version: str) -> VersionMissingError:
    """Return the error for a version that is missing or incomplete."""
    return VersionMissingError(
        f"Qdrant does not have index {version}, or has only part of it",
        hint="publish it with foundry publish, or deploy the export of the published version",
    )
