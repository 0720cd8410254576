"""What a zip archive is the container of, from its own directory."""

import re

_SAMPLE_BYTES = 32_768
_MIME_TYPE = re.compile(rb"mimetypeapplication/([\w.+-]{1,80})")
_BY_MIME_TYPE = {
    b"epub+zip": "EPUB",
    b"vnd.oasis.opendocument.text": "OpenDocument text",
    b"vnd.oasis.opendocument.spreadsheet": "OpenDocument spreadsheet",
    b"vnd.oasis.opendocument.presentation": "OpenDocument presentation",
}
_BY_MEMBER = (
    (b"word/", "Word"),
    (b"xl/", "Excel"),
    (b"ppt/", "PowerPoint"),
    (b"META-INF/container.xml", "EPUB"),
)


def zip_kind(content: bytes) -> str | None:
    """Return the document format that is packed into a zip archive; None for an archive of files.

    Names are looked for in the directory at the end, and at the start for what was cut off.
    """
    written = _MIME_TYPE.search(content[:200])
    if written:
        # The next member's header follows without a gap.
        known = (name for name in _BY_MIME_TYPE if written[1].startswith(name))
        name = max(known, key=len, default=None)
        return _BY_MIME_TYPE[name] if name else "OpenDocument"
    # An entry of the directory, or a member's header, has its fields before its name.
    members = content[:_SAMPLE_BYTES] + content[-4 * _SAMPLE_BYTES :]
    return next((kind for name, kind in _BY_MEMBER if name in members), None)
