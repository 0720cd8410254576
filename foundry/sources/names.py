"""Classifies file names: secrets, extensions, and published urls."""

import json
import posixpath
from urllib.parse import quote_from_bytes

from foundry.config.sources import pattern_of
from foundry.runtime.index.names import indexed_name

INCLUDING_SECRETS = (
    'to read a file that only looks like a secret: include = ["**/*", "/PATH/OF/IT"] in [[sources]]'
)

_NAMES = frozenset(
    {
        *(".boto", ".databrickscfg", ".dockercfg", ".dockerconfigjson", ".env", ".git-credentials"),
        *(".htpasswd", ".my.cnf", ".mylogin.cnf", ".netrc", ".npmrc", ".pgpass", ".pypirc"),
        *(".s3cfg", ".terraformrc", ".vault-token", ".yarnrc", ".yarnrc.yml", "_netrc"),
        *("application_default_credentials.json", "auth.json", "credential", "htpasswd"),
        *("kubeconfig", "password.txt", "pgpass.conf", "rclone.conf", "rootkey.csv", "secrets"),
        *("token.json", "wp-config.php"),
    }
)
_PLACES = ("/.docker/config.json", "/.kube/config", "/gh/hosts.yml")
"""Path endings of secrets whose last part alone is too general."""
_ENDINGS = (
    *(".env", ".jks", ".kdb", ".kdbx", ".key", ".keystore", ".kubeconfig", ".ovpn", ".p12", ".p8"),
    *(".pem", ".pfx", ".ppk", ".tfstate", ".tfstate.backup", ".tfvars", ".tfvars.json"),
    *("_dsa", "_ecdsa", "_ed25519", "_rsa", "accesskeys.csv"),
)
_BEGINNINGS = ("credentials.", "kubeconfig-", "kubeconfig.", "secrets.", "secring.")
"""Beginnings of secret names; prose with such a name, like `credentials.html`, is about secrets."""
_BEGINNINGS_OF_DATA = (
    *("credential.", "credentials", "id_dsa", "id_ecdsa", "id_ed25519", "id_rsa", "passwords."),
    "secret.",
)
"""The same, but code with such a name, like `CredentialsProvider.java`, is no secret either."""
_BEGINNINGS_OF_JSON = (
    *("client-secret", "client_secret", "gcp-key", "gcp_key", "service-account", "service_account"),
    "serviceaccount",
)
_PROSE = (
    *(".adoc", ".asciidoc", ".doc", ".docx", ".epub", ".htm", ".html", ".markdown", ".md", ".mdx"),
    *(".mediawiki", ".odp", ".odt", ".org", ".pdf", ".ppt", ".pptx", ".pub", ".rst", ".rtf"),
    *(".tex", ".wiki", ".wikitext", ".xhtml"),
)
"""Extensions of prose and of public keys."""
_PROGRAMS = (
    *(".c", ".cc", ".cpp", ".cs", ".dart", ".ex", ".exs", ".go", ".h", ".hpp", ".hs", ".java"),
    *(".jl", ".js", ".jsx", ".kt", ".kts", ".lua", ".m", ".mjs", ".mm", ".php", ".pl", ".py"),
    *(".pyi", ".r", ".rb", ".rs", ".scala", ".svelte", ".swift", ".tf", ".ts", ".tsx", ".vue"),
)

NO_DOCUMENTS = (".css", ".drawio", ".svg")
"""Extensions of files with hardly any prose, which are only read if a pattern names them."""

_PAGES = frozenset(
    {
        *(b".adoc", b".asciidoc", b".htm", b".html", b".ipynb", b".markdown", b".md", b".mdx"),
        *(b".org", b".rst", b".xhtml"),
    }
)
"""Extensions of files that are published as pages under other names."""


def looks_secret(path: str) -> bool:
    """Return whether a file at this path usually contains a key or a password."""
    place = f"/{path.casefold()}"
    name = place[place.rindex("/") + 1 :]
    if name in _NAMES or name.startswith(".env.") or place.endswith(_ENDINGS + _PLACES):
        return True
    if name.endswith(_PROSE):
        return False
    if name.startswith(_BEGINNINGS):
        return True
    if name.endswith(".json") and name.startswith(_BEGINNINGS_OF_JSON):
        return True
    return name.startswith(_BEGINNINGS_OF_DATA) and not name.endswith(_PROGRAMS)


def how_to_include(path: str) -> str:
    """Return what to write in foundry.toml to read this file, which looks like a secret."""
    pattern = json.dumps(indexed_name("/" + pattern_of(path)), ensure_ascii=False)
    return f"read with {pattern} in include"


def how_to_include_ending(path: str) -> str:
    """Return what to write in foundry.toml to read files with this extension."""
    return f'read with "**/*{path[path.rindex(".") :]}" in include'


def url_of(base_url: str, path: bytes, suffix: str | None) -> str:
    """Return the url under which a file is published: base, one slash, percent-encoded path.

    With a `suffix`, it replaces the extension of a page, and `index` and `README` get the url of
    their folder.
    """
    folder, name = posixpath.split(path)
    stem, ending = posixpath.splitext(name)
    if suffix is not None and ending.lower() in _PAGES:
        is_index = stem.lower() in (b"index", b"readme")
        path = folder if is_index else posixpath.join(folder, stem)
        end = b"/" if is_index and suffix and folder else suffix.encode()
        path += end if path else b""
    return f"{base_url.rstrip('/')}/{quote_from_bytes(path)}"
