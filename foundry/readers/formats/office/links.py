"""Writes links of office formats as Markdown."""

_REFUSED = ("javascript:", "vbscript:", "data:")


def write_link(text: str, url: str) -> str:
    """Return a text with its link; the text alone if it is the url or cannot become a link."""
    label = text.strip()
    url = url.strip().replace(" ", "%20").replace("(", "%28").replace(")", "%29")
    is_said = label in {url, url.removeprefix("mailto:"), url.rstrip("/")}
    if not label or not url or "\n" in label or is_said or label.startswith("["):
        return text
    if url.lower().startswith(_REFUSED) or url.startswith("#"):
        return text
    return text.replace(label, f"[{label}]({url})", 1)
