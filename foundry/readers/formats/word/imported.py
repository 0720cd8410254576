"""Documents that Word imports when it opens a file (`w:altChunk`): web pages, text and RTF."""

from foundry.readers.composing import Composer
from foundry.readers.decoding import declared_charset, decode
from foundry.readers.formats import html, saved_page
from foundry.readers.formats.office.parts import Parts, Relation
from foundry.readers.formats.rtf import reader as rtf


def include_part(composer: Composer, parts: Parts, relation: Relation | None) -> None:
    """Include the text of a part that is itself a document."""
    content = parts.read(relation.target) if relation and not relation.is_external else None
    if not relation or content is None:
        return
    suffix = relation.target.lower().rpartition(".")[2]
    if content.startswith(b"{\\rtf"):
        composer.include(rtf.read(content))
    elif suffix in {"htm", "html", "xhtml"} or declared_charset(content):
        composer.include(html.read(decode(content, declared_charset(content))[0]))
    elif suffix in {"mht", "mhtml"}:
        composer.include(saved_page.read(content))
    elif suffix == "txt":
        composer.text(decode(content)[0])
