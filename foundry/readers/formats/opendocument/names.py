"""Names of OpenDocument elements and attributes, with their namespaces."""

_URN = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
TEXT, TABLE, DRAW, OFFICE = (_URN % name for name in ("text", "table", "drawing", "office"))
STYLE, PRESENTATION, CHART = (_URN % name for name in ("style", "presentation", "chart"))
SVG = _URN % "svg-compatible"
LINK = "{http://www.w3.org/1999/xlink}href"
MATHML = "{http://www.w3.org/1998/Math/MathML}"
