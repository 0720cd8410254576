"""One HTTP request on its own connection, limited in bytes and time.

Connections are not reused, since excess bytes after a response could be taken for the next one.
"""

import gzip
import ssl
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO

import httpcore2

from foundry.documents.reasons import Reason
from foundry.fetching.failures import FetchError, refused
from foundry.fetching.network import Deadline, Network, PinnedBackend
from foundry.urls import Url

ACCEPTED = "gzip"
MEMBER_START = b"\x1f\x8b\x08"
MAX_MEMBERS = 4_000
"""Maximum number of members of a gzip stream: each takes some microseconds, even if it is empty."""

MAX_HEADER_BYTES = 65_536
TOO_LARGE_HEADERS = 431
"""The status that h11 suggests for a response with endless headers."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A response; header names are in lower case, and `body` is empty unless the status is 200."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def exchange(
    network: Network,
    url: Url,
    headers: Mapping[str, str],
    *,
    max_bytes: int,
    seconds: float,
    truncate: bool = False,
) -> Answer:
    """Request a url once, without following redirects.

    `headers` are sent in addition to Host and Connection; `seconds` limits everything from DNS to
    the last byte. A body of more than `max_bytes`, before or after decompression, is rejected; with
    `truncate`, an uncompressed one is cut off there. Raises FetchError if there is no
    response or it is rejected or incomplete, and StoppedError if the build was stopped.
    """
    deadline = Deadline(seconds, network.stop)
    scheme, host, target = url.scheme.encode(), url.host.encode(), url.target.encode()
    address = httpcore2.URL(scheme=scheme, host=host, port=url.port, target=target)
    sent = {"Host": url.authority, **headers, "Connection": "close"}
    encoded = [(name.encode(), value.encode()) for name, value in sent.items()]
    request = httpcore2.Request("GET", address, headers=encoded)
    backend = PinnedBackend(network, url, deadline)
    response: httpcore2.Response | None = None
    try:
        with httpcore2.HTTPConnection(
            address.origin,
            ssl_context=network.ssl_context if url.scheme == "https" else None,
            network_backend=backend,
        ) as connection:
            response = connection.handle_request(request)
            received = _join_headers(response.headers)
            body = b""
            if response.status == 200:
                body = _read_body(response, received, max_bytes, truncate=truncate)
            return Answer(response.status, received, body)
    except httpcore2.TimeoutException:
        raise FetchError(Reason.UNREACHABLE, "no connection in time", is_temporary=True) from None
    except httpcore2.RemoteProtocolError as error:
        if backend.has_ended:
            reason = Reason.CONNECTION_BROKE if response is None else Reason.CUT_SHORT
            raise FetchError(reason, str(error)[:200], is_temporary=True) from None
        if getattr(error.__cause__, "error_status_hint", None) == TOO_LARGE_HEADERS:
            raise FetchError(Reason.LARGE_HEADERS) from None
        raise FetchError(Reason.MALFORMED_ANSWER, str(error)[:200]) from None
    except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        raise _explain(error) from None


def _join_headers(raw: list[tuple[bytes, bytes]]) -> dict[str, str]:
    if sum(len(name) + len(value) for name, value in raw) > MAX_HEADER_BYTES:
        raise FetchError(Reason.LARGE_HEADERS)
    headers: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _read_body(
    response: httpcore2.Response, headers: Mapping[str, str], max_bytes: int, *, truncate: bool
) -> bytes:
    stated = headers.get("content-length", "")
    if not truncate and stated.isdigit() and int(stated[:20]) > max_bytes:
        raise refused(Reason.OVERSIZE, f"{stated[:20]} bytes, the limit is {max_bytes}")
    body = bytearray()
    for piece in response.iter_stream():
        body += piece
        if len(body) > max_bytes:
            if truncate:
                break
            raise refused(Reason.OVERSIZE, f"the limit is {max_bytes} bytes")
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding in {"gzip", "x-gzip"}:
        return unzip(bytes(body), max_bytes)
    if encoding not in {"", "identity"}:
        raise FetchError(Reason.UNKNOWN_ENCODING, encoding[:100])
    return bytes(body[:max_bytes])


def unzip(content: bytes, max_bytes: int) -> bytes:
    """Decompress gzip with one or several members.

    Raises FetchError for damaged data, and for more than `max_bytes`.
    """
    if content.count(MEMBER_START) > MAX_MEMBERS:
        raise FetchError(Reason.DAMAGED_ENCODING, f"more than {MAX_MEMBERS} gzip members")
    try:
        unpacked = gzip.GzipFile(fileobj=BytesIO(content)).read(max_bytes + 1)
    except (OSError, EOFError, zlib.error):
        raise FetchError(Reason.DAMAGED_ENCODING) from None
    if len(unpacked) > max_bytes:
        raise refused(Reason.OVERSIZE, "after decoding")
    return unpacked


def _explain(error: Exception) -> FetchError:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return FetchError(Reason.BAD_CERTIFICATE, cause.verify_message[:200])
        if isinstance(cause, ssl.SSLError):
            return FetchError(Reason.TLS_FAILED, str(cause.reason or cause)[:200])
        cause = cause.__cause__ or cause.__context__
    is_connected = not isinstance(error, httpcore2.ConnectError)
    reason = Reason.CONNECTION_BROKE if is_connected else Reason.UNREACHABLE
    return FetchError(reason, str(error)[:200], is_temporary=True)
