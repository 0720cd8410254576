"""Why something is not in the index: every reason, and its words.

Whatever decides by a reason compares members. Reports and caches hold the words, which are the
values of members: who changes them builds anew, as with any change of this code.
"""

from enum import StrEnum
from typing import NewType

from foundry.errors import install_command


def _unsupported(kind: str) -> str:
    return f"{kind} is not supported"


def _with_extra(extra: str) -> str:
    return f"to be read with {install_command(extra)}"


class Reason(StrEnum):
    """Why an input was skipped, or a url gave no page, in a short phrase."""

    # Files, and what they hold.
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
    CANNOT_BE_CONVERTED = "HTML cannot be converted"
    CANNOT_BE_PREPARED = "cannot be prepared"
    DAMAGED = "damaged"
    ELEMENTS_TOO_DEEP = "elements are nested too deeply"
    ENCRYPTED = "encrypted"
    HOLDS_DTD = "holds a DTD"
    ILLEGIBLE = "pictures of no legible text"
    MINIFIED = "minified code"
    NEEDS_BROWSER = "needs a browser"
    NEEDS_OCR = "no text layer, needs OCR"
    NO_SUBTITLES = "no subtitles"
    NO_TEXT = "no text"
    NOT_A_MESSAGE = "not a message"
    NOT_AS_NAMED = "not what its name says"
    NOT_TEXT = "not a text format"
    PAGE_TOO_LARGE = "page is too large"
    PICTURE = "a picture"
    PICTURE_TOO_LARGE = "picture is too large"
    READER_CRASHED = "reader crashed"
    READER_FAILED = "reader failed"
    TOO_MANY_CELLS = "too many cells"
    TOO_MANY_MESSAGES = "too many messages"
    TOO_MANY_PAGES = "too many pages"
    TOO_MUCH = "too much for its reader"
    ZIP_BOMB = "zip bomb"

    # Documents that no reader reads, or only one that an extra of Foundry brings.
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

    # Urls that are not to be fetched.
    DISALLOWED = "disallowed by robots.txt"
    DUPLICATE_PAGE = "duplicate of another page"
    LISTED_TWICE = "listed twice"
    NOINDEX = "noindex"
    OTHER_HOST = "on another host"
    OVER_MAX_PAGES = "over max_pages"
    PRIVATE_ADDRESS = "private address"
    ROBOTS_UNAVAILABLE = "robots.txt unavailable"

    # Urls that were asked for in vain.
    BAD_CERTIFICATE = "certificate is not valid"
    CONNECTION_BROKE = "connection broke"
    CUT_SHORT = "answer was cut short"
    DAMAGED_ENCODING = "damaged content encoding"
    DAMAGED_IN_CACHE = "damaged in the cache"
    HOST_NOT_FOUND = "host not found"
    HOST_STOPPED = "host stopped answering"
    LARGE_HEADERS = "headers over the size limit"
    MALFORMED_ANSWER = "malformed answer"
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


Completed = NewType("Completed", str)
"""The words of a reason that names something, by which nothing is decided."""

AnyReason = Reason | Completed


def answered(status: int) -> Completed:
    """Return the reason of a url that was answered by another status than 200."""
    return Completed(f"status {status}")


def of_sitemap(reason: AnyReason) -> Completed:
    """Return the reason of a sitemap that gave no urls."""
    return Completed(f"sitemap: {reason}")


def unsupported(kind: str) -> Reason:
    """Return the reason of a document in a format that has no reader."""
    return Reason(_unsupported(kind))


def needs_extra(extra: str) -> Reason:
    """Return the reason of a document whose reader an extra of Foundry brings."""
    return Reason(_with_extra(extra))
