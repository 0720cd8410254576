"""Names of WordprocessingML elements and attributes, with their namespace."""

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
VAL = f"{W}val"
PARAGRAPH, RUN, TEXT, TABLE = f"{W}p", f"{W}r", f"{W}t", f"{W}tbl"
BOX = f"{W}txbxContent"
PARAGRAPH_PROPERTIES, RUN_PROPERTIES = f"{W}pPr", f"{W}rPr"

SILENT = (
    *(PARAGRAPH_PROPERTIES, RUN_PROPERTIES, f"{W}sdtPr", f"{W}sdtEndPr", f"{W}smartTagPr"),
    *(f"{W}customXmlPr", f"{W}softHyphen", f"{W}bookmarkStart", f"{W}bookmarkEnd", f"{W}proofErr"),
    *(f"{W}footnoteRef", f"{W}endnoteRef", f"{W}annotationRef", f"{W}commentReference"),
    *(f"{W}lastRenderedPageBreak", f"{W}ffData", f"{W}fldData", f"{W}separator"),
)
"""Elements in a paragraph that show nothing."""

_FALSE = frozenset({"0", "false", "off", "none"})


def is_on(value: str | None) -> bool:
    """Return whether a switch with this value is on; without a value, it is."""
    return value not in _FALSE
