"""Names as sources find them: made printable, judged as secret or hidden."""

import re
from fnmatch import translate

# Control characters, line and paragraph separators, and the bidirectional controls that make a
# name look like another one.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_SURROGATE = re.compile("[\ud800-\udfff]")

_SECRET_NAMES = (
    *(".env", ".env.*", "*.env", ".netrc", ".npmrc", ".pypirc", ".htpasswd", ".git-credentials"),
    *("credentials.json", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "*.pem", "*.key", "*.pfx"),
    *("*.p12", "*.ppk", "*.jks", "*.keystore", "*.kdbx"),
)
_SECRET_NAME = re.compile("|".join(map(translate, _SECRET_NAMES)))


def printable(name: str) -> str:
    """Return a name that is safe to show: control characters escaped, bad bytes as U+FFFD."""
    visible = _UNPRINTABLE.sub(lambda match: _escape(match.group()), name)
    return _SURROGATE.sub("\ufffd", visible)


def looks_secret(name: str) -> bool:
    """Return whether a file of this name usually holds a key or a password."""
    return _SECRET_NAME.match(name.casefold()) is not None


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
