"""Decodes bytes to normalised text: LF, NFC, without NUL, lone surrogates or hidden characters.

Soft hyphens are removed too: they mark where a word may be split, and are not part of it.
"""

import codecs
import re
import unicodedata
from itertools import pairwise

from foundry.readers.charsets import SAMPLE_BYTES, guess_charset
from foundry.readers.notes import note_guess, note_hidden
from foundry.readers.scripts import guess_escaped, guess_wide

NORMALISATION_SLICE_CHARS = 2_000
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_XML_DECLARATION = re.compile(rb"\s*<\?xml[^>]{0,200}?\bencoding\s*=\s*[\"']([\w.:-]{1,40})")
_META_CHARSET = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_TERMINAL_CODE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_OVERSTRUCK = re.compile(r"[^\n\x08]\x08")
# A line fold in a calendar or contact that splits the bytes of a character.
_FOLD_IN_CHARACTER = re.compile(rb"\r?\n[ \t](?=[\x80-\xbf])")
# Characters that do not compose with preceding ones, so normalisation can be split there.
_STARTER = re.compile("[\x00-\u02ff\u3041-\u3098\u30a0-\u30fe\u3400-\u9fff\uac00-\ud7a3]")


def decode(content: bytes, declared: str | None = None) -> tuple[str, int]:
    """Decode and normalise; also count the characters replaced by U+FFFD.

    The order of attempts: byte order mark, UTF-16 without one, escape sequences of ISO 2022, UTF-8,
    the declared charset, UTF-8 with a few errors, a guess from a sample.
    """
    text, replaced = _decode(content, declared)
    replaced += len(_SURROGATE.findall(text)) if not text.isascii() else 0
    return normalise(remove_terminal_codes(text)), replaced


def remove_terminal_codes(text: str) -> str:
    """Remove colours and other terminal codes; a letter printed twice for bold is kept once."""
    if "\x1b" in text:
        text = _TERMINAL_CODE.sub("", text)
    return _OVERSTRUCK.sub("", text) if "\b" in text else text


def declared_charset(content: bytes) -> str | None:
    """Return the charset in a page's XML declaration or `meta` element; None without one."""
    match = _XML_DECLARATION.match(content[:400]) or _META_CHARSET.search(content[:4096])
    return match.group(1).decode("ascii") if match else None


def normalise(text: str) -> str:
    """Normalise text for storage, in linear time."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii():
        return text
    text = remove_hidden(_SURROGATE.sub("\ufffd", text)).replace("\u00ad", "")
    # Normalising a run of combining marks takes quadratic time, so it is done in slices.
    cuts = [0]
    while len(text) - cuts[-1] > NORMALISATION_SLICE_CHARS:
        earliest = cuts[-1] + NORMALISATION_SLICE_CHARS
        starter = _STARTER.search(text, earliest, earliest + NORMALISATION_SLICE_CHARS)
        cuts.append(starter.start() if starter else earliest)
    cuts.append(len(text))
    return "".join(unicodedata.normalize("NFC", text[a:b]) for a, b in pairwise(cuts))


def is_normalised(text: str) -> bool:
    """Return whether `normalise` would leave a text, and any part of it, unchanged."""
    return not _REMOVED.search(text) and normalise(text) == text


def normalise_line(text: str, max_chars: int = 500) -> str:
    """Return a text on one line, normalised, without control characters, cut at `max_chars`."""
    return " ".join(_UNPRINTABLE.sub("", normalise(text)).split())[:max_chars].strip()


def looks_like_wide_text(sample: bytes) -> str | None:
    """Return the UTF-16 variant that decodes bytes without a byte order mark as text, if any."""
    pairs = len(sample) // 2
    if pairs < 4:
        return None
    even, odd = sample[0 : pairs * 2 : 2].count(0), sample[1 : pairs * 2 : 2].count(0)
    if odd > 0.4 * pairs and even < 0.02 * pairs:
        return "utf-16-le"
    if even > 0.4 * pairs and odd < 0.02 * pairs:
        return "utf-16-be"
    return guess_wide(sample)


def byte_order_mark(content: bytes) -> str | None:
    """Return the encoding that a byte order mark indicates; None without one."""
    return next((name for mark, name in _BOMS if content.startswith(mark)), None)


def _decode(content: bytes, declared: str | None) -> tuple[str, int]:
    if b"BEGIN:V" in content[:10].upper():
        content = _FOLD_IN_CHARACTER.sub(b"", content)
    marked = byte_order_mark(content)
    wide = marked or looks_like_wide_text(content[:SAMPLE_BYTES])
    if wide:
        return _replace_undecodable(content, wide)
    charset = _known_charset(declared) or guess_escaped(content)
    # The ISO 2022 family is ASCII with escape sequences, and would be valid UTF-8.
    if charset and charset.startswith("iso2022") and b"\x1b" in content:
        return _replace_undecodable(content, charset)
    for errors in ("strict", "surrogatepass"):
        try:
            return content.decode("utf-8", errors), 0
        except UnicodeDecodeError:
            continue
    if charset:
        return _replace_undecodable(content, charset)
    text, replaced = _replace_undecodable(content, "utf-8")
    sound = sum(map(len, re.findall("[^\x00-\x7f\ufffd]+", text)))
    if replaced <= sound or (replaced == 1 and text.endswith("\ufffd")):
        return text, replaced
    guessed = guess_charset(content)
    note_guess(guessed)
    return _replace_undecodable(content, guessed)


def _replace_undecodable(content: bytes, charset: str) -> tuple[str, int]:
    text = content.decode(charset, "replace").removeprefix("\ufeff")
    written = content.count("\ufffd".encode()) if charset == "utf-8" else 0
    return text, max(text.count("\ufffd") - written, 0)


def _known_charset(declared: str | None) -> str | None:
    try:
        name = codecs.lookup(declared or "").name
        b"".decode(name)
    except (LookupError, ValueError):
        return None
    # Browsers read these labels as Windows-1252; the encodings below can hide text from a scanner.
    if name in {"iso8859-1", "ascii"}:
        return "cp1252"
    return None if name.startswith(("utf-7", "unicode", "raw", "idna", "punycode")) else name


_SUSPECT = re.compile("[\u180e\u200b-\u200d\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
_REMOVED = re.compile(f"[\\0\\r]|{_SUSPECT.pattern}")
# A captured group is text that only looks like a match, and is kept.
_PATTERNS = {
    # Many scripts, but not Latin, use zero-width joiners and spaces in spelling.
    "zero-width characters": re.compile(
        "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]\u200b)"
        "|(?<=[\\0-\u024f])[\u200b-\u200d]+|[\u180e\u200b\u2060-\u2064\ufeff]+"
    ),
    "bidirectional controls": re.compile("()[\u202a-\u202e\u2066-\u2069]+"),
    # The flags of England, Scotland and Wales are a black flag with tag characters.
    "tag characters": re.compile(
        "(\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f)"
        "|[\U000e0000-\U000e007f]+"
    ),
}


def remove_hidden(text: str) -> str:
    """Return the text without hidden characters, which are recorded as left out."""
    if text.isascii() or not _SUSPECT.search(text):
        return text
    for kind, pattern in _PATTERNS.items():
        found = [match for match in pattern.finditer(text) if not match.group(1)]
        if found:
            line = text.count("\n", 0, found[0].start()) + 1
            note_hidden(kind, sum(len(match.group()) for match in found), line)
            text = pattern.sub(lambda match: match.group(1) or "", text)
    return text
