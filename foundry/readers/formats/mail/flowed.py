"""Flowed text, as mails carry it."""


def unfold(text: str, *, drops_space: bool) -> str:
    """Return flowed text with its lines joined into paragraphs (RFC 3676)."""
    lines: list[str] = []
    goes_on = False
    depth_before = 0
    for line in text.split("\n"):
        depth = len(line) - len(line.lstrip(">"))
        content = line[depth:].removeprefix(" ")
        if goes_on and depth == depth_before and content != "-- ":
            lines[-1] += content
        else:
            lines.append(f"{'>' * depth} {content}" if depth else content)
        goes_on = content.endswith(" ") and content != "-- "
        if goes_on and drops_space:
            lines[-1] = lines[-1][:-1]
        depth_before = depth
    return "\n".join(lines)
