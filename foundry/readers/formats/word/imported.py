"""Documents that Word imports when it opens a file (`w:altChunk`): web pages, text and RTF."""

from foundry.readers.composing import Composer
from foundry.readers.decoding import declared_charset, decode
from foundry.readers.formats import html, saved_page
from foundry.readers.formats.office.parts import Parts, Relation
from foundry.readers.formats.rtf import reader as rtf
from foundry.readers.notes import note_damage
from foundry.readers.sniffing import binary_kind, document_kind


def include_part(composer: Composer, parts: Parts, relation: Relation | None) -> None:
    """Include the text of a part that is itself a document."""
    content = parts.read(relation.target) if relation and not relation.is_external else None
    if not relation or content is None:
        note_damage(relation.target if relation else "an imported document")
        return
    suffix = relation.target.lower().rpartition(".")[2]
    if content.startswith(b"{\\rtf"):
        composer.include(rtf.read(content))
    elif suffix in {"htm", "html", "xhtml"} or declared_charset(content):
        composer.include(html.read(decode(content, declared_charset(content))[0]))
    elif suffix in {"mht", "mhtml"}:
        composer.include(saved_page.read(content))
    elif document_kind(content) == "Word":
        # Imported when needed: the reader imports this module.
        from foundry.readers.formats.word import reader as word

        composer.include(word.read(content))
    elif document_kind(content) is None and binary_kind(content) is None:
        composer.text(decode(content)[0])
    else:
        note_damage(relation.target)
