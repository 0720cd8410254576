"""Every reason why something is not in the index, with its text.

Decisions compare members. Reports and caches contain the texts, which are the values of members:
changing them causes a rebuild, like any change of this code.
"""

from collections.abc import Container, Mapping
from enum import StrEnum
from typing import NewType

from foundry.errors import install_command


def _unsupported(kind: str) -> str:
    return f"{kind} is not supported"


def _with_extra(extra: str) -> str:
    return f"to be read with {install_command(extra)}"


class Reason(StrEnum):
    """Why an input was skipped, or a url yielded no page, as a short phrase."""

    # Files.
    CANNOT_BE_READ = "cannot be read"
    CHANGED = "changed while it was read"
    EMPTY = "empty file"
    FOLDER_READ_ALREADY = "folder was read already under another name"
    FOLDERS_TOO_DEEP = "folders are nested too deeply"
    LOOKS_SECRET = "looks like a secret"
    NO_DOCUMENT = "a drawing or a style sheet"
    NOT_IN_REPOSITORY = "not in the repository"
    NOT_REGULAR = "not a regular file"
    OVERSIZE = "over the size limit"
    PRIVATE_KEY = "holds a private key"
    SUBMODULE = "submodule"
    SYMBOLIC_LINK = "symbolic link"

    # Rows of a table.
    DUPLICATE_ID = "duplicate id"
    ID_HAS_NO_ADDRESS = "id has no address"
    ID_IS_NO_TEXT = "id is not valid text"
    MALFORMED_LINE = "malformed line"
    MALFORMED_ROW = "malformed row"
    NO_ID = "no id"
    NOT_AN_OBJECT = "not a JSON object"
    RAGGED_ROW = "ragged row"
    TEXT_IS_NO_STRING = "text is not a string"

    # Documents that are read.
    CANNOT_BE_PREPARED = "cannot be prepared"
    DATABASE = "a database"
    DAMAGED = "damaged"
    ELEMENTS_TOO_DEEP = "elements are nested too deeply"
    ENCRYPTED = "encrypted"
    HOLDS_DTD = "holds a DTD"
    ILLEGIBLE = "pictures without legible text"
    MINIFIED = "minified code"
    NEEDS_ADOBE_READER = "a form that only Adobe Reader shows"
    NEEDS_BROWSER = "needs a browser"
    NEEDS_OCR = "no text layer, needs OCR"
    NO_SUBTITLES = "no subtitles"
    NO_TEXT = "no text"
    NOT_A_MESSAGE = "not a message"
    NOT_AS_NAMED = "content does not match its name"
    NOT_TEXT = "not a text format"
    PAGE_TOO_LARGE = "page is too large"
    PICTURE = "a picture"
    PICTURE_TOO_LARGE = "picture is too large"
    READER_CRASHED = "reader crashed"
    READER_FAILED = "reader failed"
    TOO_MANY_CELLS = "too many cells"
    TOO_MANY_MESSAGES = "too many messages"
    TOO_MANY_PAGES = "too many pages"
    TOO_MUCH = "over a limit of its reader"
    ZIP_BOMB = "zip bomb"

    # Documents without a reader, and documents whose reader is an extra of Foundry.
    OLD_OFFICE = _unsupported("old Office")
    OLD_POWERPOINT = _unsupported("old PowerPoint")
    OLD_WORD = _unsupported("old Word")
    OPEN_DOCUMENT = _unsupported("OpenDocument")
    POSTSCRIPT = _unsupported("PostScript")
    WITH_OCR = _with_extra("ocr")
    WITH_OFFICE = _with_extra("office")
    WITH_RST = _with_extra("rst")
    WITH_WIKI = _with_extra("wiki")

    # Addresses.
    LONG_URL = "url is too long"
    MALFORMED_HOST = "malformed host"
    MALFORMED_URL = "malformed url"
    NOT_HTTP = "not an http or https url"
    UNUSUAL_ADDRESS = "unusual spelling of an address"
    USER_IN_URL = "user name in the url"

    # Urls that are not fetched or not indexed.
    DISALLOWED = "disallowed by robots.txt"
    DUPLICATE_PAGE = "duplicate of another page"
    LISTED_TWICE = "listed twice"
    NOINDEX = "noindex"
    OTHER_HOST = "on another host"
    OVER_MAX_PAGES = "over max_pages"
    PRIVATE_ADDRESS = "private address"
    ROBOTS_UNAVAILABLE = "robots.txt unavailable"
    SITEMAP = "a sitemap"

    # Urls whose request failed.
    BAD_CERTIFICATE = "certificate is not valid"
    CONNECTION_BROKE = "connection broke"
    CUT_SHORT = "answer was cut short"
    DAMAGED_ENCODING = "damaged content encoding"
    DAMAGED_IN_CACHE = "damaged in the cache"
    HOST_NOT_FOUND = "host not found"
    HOST_STOPPED = "host stopped answering"
    LARGE_HEADERS = "headers over the size limit"
    MALFORMED_ANSWER = "malformed answer"
    NOTHING_SELECTED = "include and exclude select none of its urls"
    NO_CONTENT = "no content"
    NOT_A_SITEMAP = "not a sitemap"
    REDIRECT_LOOP = "redirect loop"
    SITEMAPS_TOO_DEEP = "nested too deeply"
    SITEMAPS_TOO_MUCH = "too much"
    TLS_FAILED = "TLS failed"
    TOO_MANY_REDIRECTS = "too many redirects"
    TOO_MANY_SITEMAPS = "too many sitemaps"
    TOO_SLOW = "too slow"
    UNKNOWN_ENCODING = "unknown content encoding"
    UNREACHABLE = "cannot be reached"


REMEDIES: Mapping[str, str] = {
    Reason.DATABASE: (
        "sqlite3 FILE -header -csv 'SELECT * FROM TABLE' > TABLE.csv writes a table of SQLite,"
        ' which [[sources]] with type = "records" reads'
    ),
    Reason.HOLDS_DTD: (
        "xmllint --noent --dropdtd FILE > COPY.xml fills in its entities; use it only for files"
        " that you trust"
    ),
    Reason.OLD_OFFICE: "save it in a newer format, such as .docx",
    Reason.OLD_POWERPOINT: "soffice --convert-to pptx FILE converts it",
    Reason.OLD_WORD: "soffice --convert-to docx FILE converts it",
    Reason.SITEMAP: '[[sources]] with type = "sitemap" and this url reads the pages that it lists',
    Reason.POSTSCRIPT: "ps2pdf FILE converts it to PDF",
}
"""How to make inputs readable, by the reason for which they were skipped."""

Completed = NewType("Completed", str)
"""The text of a reason with a detail in it, such as a status; no code depends on its value."""

AnyReason = Reason | Completed


def answered(status: int) -> Completed:
    """Return the reason for a url with a status other than 200."""
    return Completed(f"status {status}")


def of_sitemap(reason: AnyReason) -> Completed:
    """Return the reason for a sitemap, or a url in it, that cannot be read."""
    return Completed(f"sitemap: {reason}")


def unsupported(kind: str) -> Reason:
    """Return the reason for a document in a format without a reader."""
    return Reason(_unsupported(kind))


def needs_extra(extra: str) -> Reason:
    """Return the reason for a document whose reader is an extra of Foundry."""
    return Reason(_with_extra(extra))


def extras_of(reasons: Container[str]) -> list[str]:
    """Return the extras of Foundry that could read inputs skipped for these reasons."""
    found = [reason for reason in Reason if reason.name.startswith("WITH_") and reason in reasons]
    return [reason.name.removeprefix("WITH_").lower() for reason in found]
