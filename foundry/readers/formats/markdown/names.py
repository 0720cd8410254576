"""Names of admonitions, tabs and collapsed blocks in the dialects of Markdown.

Components, shortcodes and directives of site generators share them: `<TabItem>`, `{% tab %}`,
`::::{tab-item}`, `<Accordion>`, `{{< expand >}}`, `:::details`. They are compared in lower case.
"""

from foundry.readers.formats.pages.blocks import CLOSED, TAB

ADMONITIONS = frozenset(
    "abstract attention bug caution check danger error example failure hint important info note"
    " question quote seealso success summary tip todo warning".split()
)
PANELS = dict.fromkeys("tab tabitem tab-item".split(), TAB) | dict.fromkeys(
    "accordion accordionitem collapse collapsible details dropdown expand expandable"
    " spoiler".split(),
    CLOSED,
)
"""Elements that open after a click, mapped to how their titles are written."""
BOXES = dict.fromkeys("admonition alert callout notice".split(), "note")
"""Shortcodes for admonitions, and their kind if they state none."""
QUOTED = ADMONITIONS | PANELS.keys()
"""Elements that are written as quotations."""
