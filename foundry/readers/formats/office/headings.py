"""Which styles of word processors are headings, by their names."""

import re

# Word itself names built-in styles in English; other programs write what their users see.
_HEADING = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|kop|rubrik|overskrift|otsikko|nagłówek|nadpis"
    r"|címsor|ba\u015fl\u0131k|заголовок|επικεφαλίδα|見出し|标题|標題|제목)[ _]?([1-9])\b"
)


def level_of_style(name: str) -> int:
    """Return the level of headings that a style's name tells; 0 for other styles."""
    name = name.strip().lower()
    if found := _HEADING.match(name):
        return int(found[1])
    return 1 if name == "title" else 0
