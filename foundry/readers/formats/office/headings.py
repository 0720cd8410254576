"""Recognises the heading styles of word processors by their names."""

import re

# Word names built-in styles in English; other programs use the language of their users.
_HEADING = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|kop|rubrik|overskrift|otsikko|nagłówek|nadpis"
    r"|címsor|ba\u015fl\u0131k|заголовок|επικεφαλίδα|見出し|标题|標題|제목)[ _]?([1-9])\b"
)


def level_of_style(name: str) -> int:
    """Return the heading level that a style's name indicates; 0 for other styles."""
    name = name.strip().lower()
    if found := _HEADING.match(name):
        return int(found[1])
    return 1 if name == "title" else 0
