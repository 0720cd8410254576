"""Converts Hugo's shortcodes for buttons, pictures and formulas to Markdown.

`{{< button href="/a" >}}Label{{< /button >}}`, `{{< figure src="a.png" alt="Alt" >}}`,
`{{< katex >}}x^2{{< /katex >}}`.
"""

import re

from foundry.documents.left_out import Omission
from foundry.readers.formats.markdown.edits import Edits
from foundry.readers.formats.pages.blocks import link, picture

_BUTTON = re.compile(
    r"\{\{[<%][ \t]{0,9}button[ \t]([^{}\n]{1,500})[>%]\}\}([^{}\n]{1,200})\{\{[<%][ \t]{0,9}/"
    r"[ \t]{0,9}button[ \t]{0,9}[>%]\}\}"
)
_PICTURE = re.compile(r"\{\{[<%][ \t]{0,9}(?:figure|image|img)[ \t]([^{}]{1,1000})[>%]\}\}")
_FORMULA = re.compile(
    r"(?P<open>\{\{[<%][ \t]{0,9}(?P<name>katex|math)\b(?P<display>[^{}\n]{0,100})(?<!/)[>%]\}\})"
    r".{1,2000}?(?P<close>\{\{[<%][ \t]{0,9}/[ \t]{0,9}(?P=name)[ \t]{0,9}[>%]\}\})",
    re.DOTALL,
)
# Comments of Liquid, Hugo and kramdown.
_COMMENT = re.compile(
    r"\{%-?[ \t]*comment[ \t]*-?%\}.{0,9000}?\{%-?[ \t]*endcomment[ \t]*-?%\}"
    r"|\{\{-?[ \t]*/\*.{0,9000}?\*/[ \t]*-?\}\}|\{::comment\}.{0,9000}?\{:/(?:comment)?\}",
    re.DOTALL,
)
# Hugo does not run a shortcode written like this, but shows it.
_EXAMPLE = re.compile(r"\{\{([<%])/\*([^{}\n]{0,500}?)\*/([>%])\}\}")
_ATTRIBUTE = re.compile(r"\b([a-z]+)=(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'{}<>%]+))")


def rewrite_shortcodes(edits: Edits) -> None:
    """Rewrite the shortcodes that Markdown can express."""
    text = edits.text
    if "endcomment" in text or "*/" in text or "{:/" in text:
        edits.replace_all(_COMMENT, lambda _: "", Omission.COMMENT)
    if "{{" not in text:
        return
    if "*/" in text:
        edits.replace_all(_EXAMPLE, lambda match: f"{{{{{match[1]}{match[2]}{match[3]}}}}}")
    edits.replace_all(_BUTTON, lambda match: _button(*_parts(edits.text, match)))
    edits.replace_all(_PICTURE, lambda match: _picture(*_parts(edits.text, match)))
    for match in _FORMULA.finditer(edits.mask):
        mark = "$$" if "display" in match["display"] or "\n" in match[0] else "$"
        edits.replace(*match.span("open"), mark)
        edits.replace(*match.span("close"), mark)
        edits.hide(*match.span())
    edits.refresh()


def _parts(text: str, match: re.Match[str]) -> list[str]:
    """Return the groups of a match, including text that the mask hides."""
    return [text[slice(*match.span(group))] for group in range(1, 1 + match.re.groups)]


def _values(written: str) -> dict[str, str]:
    return {each[1]: each[2] or each[3] or each[4] or "" for each in _ATTRIBUTE.finditer(written)}


def _button(attributes: str, label: str) -> str | None:
    values = _values(attributes)
    target = values.get("href") or values.get("relref") or values.get("link")
    return link(label.strip(), target) if target else None


def _picture(attributes: str) -> str | None:
    values = _values(attributes)
    caption = " ".join(filter(None, (values.get("title"), values.get("caption"))))
    alternative = values.get("alt", "")
    shown = picture(alternative, values.get("src", ""))
    return " ".join(filter(None, (shown, caption))) if shown else None
