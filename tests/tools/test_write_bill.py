import hashlib
import json
from pathlib import Path

from write_bill import make_bill

from foundry import __version__


def test_bill_of_a_release_has_its_files_and_all_requirements(tmp_path: Path) -> None:
    wheel = tmp_path / "rag_foundry-py3-none-any.whl"
    wheel.write_bytes(b"the wheel")
    bill = json.loads(make_bill([wheel]))
    own = bill["metadata"]["component"]
    assert own["purl"] == f"pkg:pypi/rag-foundry@{__version__}"
    (file,) = own["externalReferences"]
    assert (file["type"], file["comment"]) == ("distribution", wheel.name)
    content = hashlib.sha256(b"the wheel").hexdigest()
    assert file["hashes"] == [{"alg": "SHA-256", "content": content}]

    names = {entry["name"] for entry in bill["components"]}
    # These packages are required by Foundry, by two of its extras, and by a requirement of another.
    assert {"numpy", "olefile", "qdrant-client", "starlette"} <= names
    # The others are only needed for development.
    assert not {"rag-foundry", "pytest", "mypy", "mkdocs"} & names
    roots = next(one for one in bill["dependencies"] if one["ref"] == own["bom-ref"])["dependsOn"]
    asked = {reference.partition("@")[0] for reference in roots}
    assert {"pkg:pypi/numpy", "pkg:pypi/olefile"} <= asked
    assert "pkg:pypi/starlette" not in asked
    for entry in bill["components"]:
        (place,) = entry["externalReferences"]
        assert place["hashes"], entry["name"]
