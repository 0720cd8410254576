"""Adds the charts and diagrams that a drawing refers to."""

from collections.abc import Mapping
from xml.etree.ElementTree import Element

from foundry.readers.composing import Composer
from foundry.readers.formats.office.alternatives import EMBEDDED
from foundry.readers.formats.office.charts import add_chart
from foundry.readers.formats.office.diagrams import diagram_lines
from foundry.readers.formats.office.parts import RELATIONSHIPS, Parts, Relation


def add_embedded(
    composer: Composer, drawing: Element, parts: Parts, relations: Mapping[str, Relation]
) -> None:
    """Add each chart and diagram in a drawing; `relations` are those of the drawing's part."""
    for each in drawing.iter():
        names = ("dm", "id") if each.tag in EMBEDDED else ()
        found = (relations.get(each.get(f"{RELATIONSHIPS}{name}", "")) for name in names)
        relation = next(filter(None, found), None)
        root = parts.xml(relation.target) if relation and not relation.is_external else None
        if relation is None or root is None:
            continue
        if relation.kind == "diagramData":
            composer.text("\n".join(diagram_lines(root)))
        else:
            add_chart(composer, root)
