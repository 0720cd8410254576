"""Tabs and accordions: hidden panels and their labels."""

from collections import defaultdict
from collections.abc import Callable

from selectolax.lexbor import LexborHTMLParser, LexborNode

_TABS = (
    "[role=tab],.tabbed-labels > label,.tab-set > label,.sd-tab-set > label,"
    ".vp-code-group > .tabs > label"
)
_PANELS = (
    "[role=tabpanel],.tabbed-block,.tab-set > .tab-content,.sd-tab-content,"
    ".vp-code-group > .blocks > div"
)


def controlled_ids(page: LexborHTMLParser) -> set[str]:
    """Return the ids of the panels that a button or a tab shows."""
    found = set[str]()
    selector = "[aria-controls],[data-bs-target],[data-target],[role=tab][href],[data-tab]"
    for node in page.css(selector):
        attributes = node.attributes
        for name in ("aria-controls", "data-bs-target", "data-target", "href", "data-tab"):
            found.update((attributes.get(name) or "").replace("#", " ").split())
    return found


def name_panels(page: LexborHTMLParser) -> tuple[dict[int, str], set[int]]:
    """Return labels by the `mem_id` of their panel, and the `mem_id` of each tab that gave one."""
    tabs = page.css(_TABS)
    if not tabs:
        return {}, set()
    panels = page.css(_PANELS)
    ids = {node.attributes.get("id"): node for node in page.css("[id]")}
    labels, used = dict[int, str](), set[int]()

    def name(panel: LexborNode, tab: LexborNode) -> None:
        labels[panel.mem_id] = " ".join(tab.text().split())
        used.add(tab.mem_id)

    targets = {tab.mem_id: _target(tab) for tab in tabs}
    said: dict[str, set[str]] = defaultdict(set)
    for tab in tabs:
        said[targets[tab.mem_id]].add(tab.text().strip())
    # Different tabs for one panel choose what it shows, as in Javadoc, so none is its label.
    tabs = [tab for tab in tabs if not targets[tab.mem_id] or len(said[targets[tab.mem_id]]) == 1]
    by_id = {tab.attributes.get("id"): tab for tab in tabs}
    for panel in panels:
        labelling = by_id.get(panel.attributes.get("aria-labelledby") or "-")
        if labelling is not None:
            name(panel, labelling)
    for tab in tabs:
        target = targets[tab.mem_id]
        if tab.mem_id not in used and target and target in ids:
            name(ids[target], tab)

    def siblings(nodes: list[LexborNode], is_left: Callable[[int], bool]) -> list[list[LexborNode]]:
        groups: dict[int, list[LexborNode]] = {}
        for node in nodes:
            if is_left(node.mem_id) and node.parent is not None:
                groups.setdefault(node.parent.mem_id, []).append(node)
        return list(groups.values())

    left = siblings(tabs, lambda place: place not in used)
    shown = siblings(panels, lambda place: place not in labels)
    for own_tabs, own_panels in zip(left, shown, strict=False):
        if len(own_tabs) == len(own_panels):
            for panel, tab in zip(own_panels, own_tabs, strict=True):
                name(panel, tab)
    return labels, used


def _target(tab: LexborNode) -> str:
    """Return the id of the panel that a tab shows."""
    named = (tab.attributes.get(each) for each in ("aria-controls", "data-bs-target", "href"))
    return next(filter(None, named), "").lstrip("#")
