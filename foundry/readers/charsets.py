"""Guesses the character set of bytes that do not declare one; the build report lists guesses.

Code pages of scripts other than Latin are recognised by letter frequencies. Those of the Latin
script are told apart by alphabets, since a few words are not enough for frequencies. A text is
Windows-1252, the most common code page, unless its letters would not occur together in any western
language, and another code page yields the letters of a single language.
"""

# ruff: noqa: RUF001 (signs that look like others are meant)
import codecs
import re

from foundry.files import read_beside
from foundry.readers.scripts import guess_script

SAMPLE_BYTES = 65_536
STRANGE_CHARACTERS = 2
"""Windows-1252 is ruled out if the text would have at least this many strange characters, plus
five for each strange character that the best other code page yields.
"""

_WESTERN = "cp1252"
# Candidates. Code pages of DOS and old Macs are left out, because they lead to wrong guesses.
_GUESSES = [
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp874"),
    *("iso8859_2", "koi8_r", "koi8_u", "cp932", "euc_jp", "gb18030", "big5", "cp949"),
]
_ALPHABETS = {
    charset: written.split() for charset, written in read_beside(__file__, "alphabets.toml").items()
}
_ALPHABETS["iso8859_2"] = _ALPHABETS["cp1250"]
# Kana, Hangul, Han: first and last character, and minimum share of the characters above U+3000.
_WIDE = (
    ("cp932", "\u3041\u30ff", 0.3),
    ("euc_jp", "\u3041\u30ff", 0.3),
    ("cp949", "\uac00\ud7a3", 0.9),
    ("gb18030", "\u4e00\u9fff", 0.7),
)
_SURELY = ("cp932", "euc_jp", "cp949")
# No Icelandic or Turkish word begins with these; many Lithuanian words begin with the same bytes.
_NEVER_FIRST = re.compile(r"(?<![^\W\d_])[ðÐğĞ]")
# Signs that never precede a letter, or never follow one, and signs that only result from a wrong
# code page.
_BEFORE_LETTER = re.compile(r"[¹²³ªº¼½¾±£¥¢¤¦©®]+(?=[^\W\d_])")
_AFTER_LETTER = re.compile(r"(?<=[^\W\d_])[¡¿]+")
_STRANGE = re.compile("[\ufffd\x80-\x9f¨¬¯¸ˇ˘˙˛˝¦¤]")
_SIGNS = (_BEFORE_LETTER, _AFTER_LETTER, _STRANGE)
_HIGH = re.compile(rb"[\x80-\xff]")
_HIGH_RUN = re.compile(rb"[\x80-\xff]{3}")


def guess_charset(content: bytes) -> str:
    """Return the Python name of the most likely character set."""
    first = _HIGH.search(content)
    start = max(0, (first.start() if first else 0) - 1_000)
    sample = content[start : start + SAMPLE_BYTES]
    wide = _find_wide(sample) if _HIGH_RUN.search(sample) else None
    if wide in _SURELY:
        return wide
    if script := guess_script(sample):
        return script
    # Few documents need it, and importing it takes as long as reading several documents.
    from charset_normalizer import from_bytes

    matches = [match.encoding for match in from_bytes(sample, cp_isolation=_GUESSES)]
    others = [charset for charset in matches if charset not in _ALPHABETS]
    latin = _choose_latin(sample)
    strange, high = _count_strange(sample, latin), len(_HIGH.findall(sample))
    if not others or matches[0] in _ALPHABETS:
        is_latin = strange * 3 <= high
        return latin if is_latin else next(iter(others), wide or latin)
    # In other scripts, words consist only of high bytes, and letters of a western alphabet are
    # rare.
    letters = sum(map(len, re.findall(rb"[A-Za-z]+", sample)))
    is_sprinkled = high * 2 < letters or not _HIGH_RUN.search(sample)
    return latin if not strange and is_sprinkled else matches[0]


def _choose_latin(sample: bytes) -> str:
    western = _count_strange(sample, _WESTERN)
    if western < STRANGE_CHARACTERS:
        return _WESTERN
    others = {name: _count_strange(sample, name) for name in _ALPHABETS if name != _WESTERN}
    best = min(others, key=others.__getitem__)
    return best if western >= STRANGE_CHARACTERS + 5 * others[best] else _WESTERN


def _find_wide(sample: bytes) -> str | None:
    """Return the code page that decodes bytes as text in an East Asian language; None if none does.

    charset-normalizer misses these in texts that are half English.
    """
    for charset, own, share in _WIDE:
        try:
            text = codecs.getincrementaldecoder(charset)().decode(sample)
        except UnicodeDecodeError:
            continue
        wide = [character for character in text if character > "\u3000"]
        if wide and sum(own[0] <= character <= own[1] for character in wide) >= share * len(wide):
            return charset
    return None


def _count_strange(sample: bytes, charset: str) -> int:
    """Count the characters of a code page that its best-matching language does not use."""
    text = sample.decode(charset, "replace")
    signs = sum(len(pattern.findall(text)) for pattern in _SIGNS)
    signs += STRANGE_CHARACTERS * len(_NEVER_FIRST.findall(text))
    letters = [letter for letter in text.lower() if letter > "\xbf" and letter.isalpha()]
    return signs + min(
        sum(letter not in alphabet for letter in letters) for alphabet in _ALPHABETS[charset]
    )
