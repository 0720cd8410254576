"""Character sets of RTF: a document's by code page, a font's by number."""

import codecs
import re

SYMBOL = "symbol"
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_BY_NUMBER = {
    **{2: SYMBOL, 77: "mac_roman", 78: "shift_jis", 79: "euc_kr", 80: "gbk", 81: "big5"},
    **{82: "mac_roman", 83: "mac_roman", 84: "mac_roman", 85: "mac_greek", 86: "mac_turkish"},
    **{88: "mac_latin2", 89: "mac_cyrillic", 128: "cp932", 129: "cp949", 130: "johab"},
    **{134: "gbk", 136: "cp950", 161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255"},
    **{178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250", 254: "cp437"},
    255: "cp850",
}
_PAGES = {
    10_000: "mac_roman",
    936: "gbk",
    65_001: "utf-8",
    42: SYMBOL,
    1361: "johab",
}


def charset_of_font(number: int, document: str) -> str:
    """Return the codec for a font's `fcharset`; the document's codec if it is ANSI or unknown."""
    return _BY_NUMBER.get(number, document)


def charset_of_page(page: int) -> str:
    """Return the codec for a code page; Windows-1252 if Python does not know it."""
    name = _PAGES.get(page, f"cp{page}")
    if name == SYMBOL:
        return name
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "cp1252"


def without_utf_8(content: bytes) -> bytes:
    """Return RTF with escapes instead of characters in UTF-8, which some programs write."""
    if content.isascii():
        return content
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return content
    # `\uc0` declares that no replacement bytes follow the characters; the group limits its effect.
    return _BEYOND_ASCII.sub(lambda found: _escaped(found[0]), text).encode("ascii")


def _escaped(text: str) -> str:
    units = text.encode("utf-16-be")
    pairs = (int.from_bytes(units[place : place + 2]) for place in range(0, len(units), 2))
    return "{\\uc0" + "".join(f"\\u{unit}" for unit in pairs) + " }"
