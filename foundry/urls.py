"""Canonical urls, without anything that two parsers could read differently.

A url that is not plainly http or https, or whose host has an unusual spelling, is refused. A url is
parsed once; the same parts are used for name lookup, comparison and the request.
"""

import ipaddress
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote, urljoin

from foundry.documents.reasons import Reason

MAX_CHARS = 4_096
DEFAULT_PORTS = {"http": 80, "https": 443, "ssh": 22}
WEB_SCHEMES = ("http", "https")

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_ABSOLUTE = re.compile(r"https?://([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#.*)?", re.I | re.DOTALL)
_AUTHORITY = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*)(?::([0-9]*))?")
_FORBIDDEN = re.compile("[\x00-\x20\x7f]")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
# Characters that need no escape, in addition to letters, digits and -._~ (RFC 3986, 3.3 and 3.4).
_PATH_SAFE = "!$&'()*+,;=:@/"
_QUERY_SAFE = _PATH_SAFE + "?"
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})?")


class UrlError(ValueError):
    """A text is not a url that can be fetched."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else str(reason))
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True, order=True)
class Url:
    """A canonical url without a fragment.

    `host` is a lower-case ASCII name, an IPv4 address or an IPv6 address without brackets; `query`
    is empty if there is none. Parsing `str(url)` returns an equal url.
    """

    scheme: str
    host: str
    port: int
    path: str
    query: str = ""

    @property
    def authority(self) -> str:
        """Host, and port unless it is the scheme's default: the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def target(self) -> str:
        """Path and query: the request target."""
        return f"{self.path}?{self.query}" if self.query else self.path

    @property
    def origin(self) -> str:
        """Scheme and authority."""
        return f"{self.scheme}://{self.authority}"

    def __str__(self) -> str:
        return self.origin + self.target


def parse_url(written: str) -> Url:
    """Return the canonical form of an absolute http or https url.

    The host is lower-cased and in ASCII (IDNA 2008 with the mapping of UTS 46). A default port, the
    fragment and an empty query are dropped, dot segments are resolved, and escapes are in capitals
    and only where needed. Raises UrlError, also if the url contains a user name, a numeric host
    that is not a dotted IPv4 address, a control character or a space.
    """
    text = written.strip("\t\n\f\r ")
    if len(text) > MAX_CHARS:
        raise UrlError(Reason.LONG_URL, f"{len(text)} characters")
    if _FORBIDDEN.search(text):
        raise UrlError(Reason.MALFORMED_URL, "a space or a control character")
    scheme = _SCHEME.match(text)
    if scheme is None or scheme[1].lower() not in WEB_SCHEMES:
        raise UrlError(Reason.NOT_HTTP, text[:200])
    match = _ABSOLUTE.fullmatch(text)
    if match is None:
        raise UrlError(Reason.MALFORMED_URL, text[:200])
    authority, path, query = match.groups()
    host, port = _split_authority(authority, scheme[1].lower())
    return Url(
        scheme=scheme[1].lower(),
        host=host,
        port=port,
        path=_remove_dots(_escape(path, _PATH_SAFE)),
        query=_escape(query or "", _QUERY_SAFE),
    )


def join_url(base: Url, reference: str) -> Url:
    """Resolve a reference on the page `base`. Raises UrlError."""
    # Surrounding white space, and line breaks and tabs inside, are ignored, as in browsers.
    text = re.sub("[\t\n\r]", "", reference.strip("\t\n\f\r ")).replace(" ", "%20")
    if len(text) > MAX_CHARS:
        raise UrlError(Reason.LONG_URL, f"{len(text)} characters")
    if scheme := _SCHEME.match(text):
        if scheme[1].lower() not in WEB_SCHEMES:
            raise UrlError(Reason.NOT_HTTP, text[:200])
        return parse_url(text)
    try:
        return parse_url(urljoin(str(base), text))
    except UrlError:
        raise
    except ValueError:
        raise UrlError(Reason.MALFORMED_URL, text[:200]) from None


def parse_host(written: str) -> str:
    """Return a host's canonical form; IPv6 may have brackets. Raises UrlError."""
    if written.startswith("[") or ":" in written:
        return _parse_ipv6(written.removeprefix("[").removesuffix("]"))
    host = written
    if not host.isascii():
        # Imported only when needed, which is rare: its tables take a while to load.
        import idna

        try:
            host = idna.encode(host, uts46=True).decode("ascii")
        except (idna.IDNAError, UnicodeError):
            raise UrlError(Reason.MALFORMED_HOST, ascii(written[:200])) from None
    host = host.lower().removesuffix(".")
    labels = host.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        try:
            return str(ipaddress.IPv4Address(host))
        except ValueError:
            raise UrlError(Reason.UNUSUAL_ADDRESS, written[:200]) from None
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise UrlError(Reason.MALFORMED_HOST, ascii(written[:200]))
    return host


def is_named(url: Url, hosts: Collection[tuple[str, int | None]]) -> bool:
    """Return whether `hosts` contains a url's host; a port of None is the scheme's default."""
    is_usual = url.port == DEFAULT_PORTS[url.scheme]
    return (url.host, url.port) in hosts or (is_usual and (url.host, None) in hosts)


def parse_host_and_port(written: str) -> tuple[str, int | None]:
    """Return a canonical host, and its port or None. Raises UrlError."""
    host, colon, port = written.rpartition(":")
    if not colon or port.endswith("]") or (":" in host and not host.endswith("]")):
        return parse_host(written), None
    if not port.isascii() or not port.isdigit() or not 1 <= int(port[:6]) <= 65_535:
        raise UrlError(Reason.MALFORMED_HOST, ascii(written[:200]))
    return parse_host(host), int(port)


def format_address(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    """Format an IP address as in urls; Python 3.13 formats some IPv6 addresses with dots."""
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        number = int(address.ipv4_mapped)
        return f"::ffff:{number >> 16:x}:{number & 0xFFFF:x}"
    return str(address)


def _parse_ipv6(written: str) -> str:
    try:
        address = ipaddress.IPv6Address(written)
    except ValueError:
        raise UrlError(Reason.MALFORMED_HOST, ascii(written[:200])) from None
    if address.scope_id is not None:
        raise UrlError(Reason.MALFORMED_HOST, ascii(written[:200]))
    return format_address(address)


# Most urls of a sitemap, and most links of a page, share one host.
@lru_cache(maxsize=256)
def _split_authority(authority: str, scheme: str) -> tuple[str, int]:
    if "@" in authority:
        # The error does not show the url, which may contain a password.
        raise UrlError(Reason.USER_IN_URL)
    match = _AUTHORITY.fullmatch(authority)
    if match is None or not match[1]:
        raise UrlError(Reason.MALFORMED_HOST, ascii(authority[:200]))
    port = int(match[2][:6]) if match[2] else DEFAULT_PORTS[scheme]
    if not 1 <= port <= 65_535:
        raise UrlError(Reason.MALFORMED_HOST, f"port {port}")
    return parse_host(match[1]), port


def _escape(text: str, safe: str) -> str:
    """Escape only the characters that need it, with capital hex digits."""
    text = _ESCAPE.sub(lambda match: _spell_escape(match[1]), text)
    return quote(text, safe=f"{safe}%", errors="replace")


def _spell_escape(digits: str | None) -> str:
    character = chr(int(digits, 16)) if digits else "%"
    return character if quote(character, safe="") == character else f"%{digits or 25}".upper()


def _remove_dots(path: str) -> str:
    """Resolve `.` and `..` (RFC 3986, 5.2.4); the result begins with a slash."""
    kept: list[str] = []
    segments = path.split("/")[1:] or [""]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)
