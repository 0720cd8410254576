"""Prints the bill of materials of a release (CycloneDX 1.6): `python tools/write_bill.py dist`.

It has the SHA-256 of each file in the folder, and every package that Foundry may be installed with,
as resolved in uv.lock: required ones and those of each extra for users, with the hashes of their
wheels.
"""

import hashlib
import json
import sys
from pathlib import Path

import foundry
from foundry.errors import DISTRIBUTION
from foundry.export.bills import format_sbom
from foundry.export.resolution import Resolution

LOCK = Path(__file__).resolve().parent.parent / "uv.lock"
REGISTRY = "https://pypi.org/simple"
FOR_DEVELOPERS = {"dev", "docs", "train"}
"""Extras that only a checkout needs."""


def make_bill(released: list[Path]) -> bytes:
    """Return the bill of materials for these files."""
    resolution = Resolution(LOCK.read_text(encoding="utf-8"))
    asked = [
        edge
        for extra, edges in resolution.roots.items()
        for edge in edges
        if extra not in FOR_DEVELOPERS and edge.name != DISTRIBUTION
    ]
    version = foundry.__version__
    roots = sorted({edge.name for edge in asked})
    content = json.loads(
        format_sbom(DISTRIBUTION, version, roots, resolution.select(asked), version)
    )
    content["metadata"]["component"] |= {
        "purl": f"pkg:pypi/{DISTRIBUTION}@{version}",
        "externalReferences": [
            {
                "type": "distribution",
                "url": f"{REGISTRY}/{DISTRIBUTION}/",
                "comment": file.name,
                "hashes": [
                    {"alg": "SHA-256", "content": hashlib.sha256(file.read_bytes()).hexdigest()}
                ],
            }
            for file in sorted(released)
        ],
    }
    return json.dumps(content, indent=1).encode() + b"\n"


def main() -> int:
    """Print the bill of the files in a folder; return 1 if there are none."""
    released = [file for folder in sys.argv[1:] for file in Path(folder).iterdir()]
    if not released:
        print("usage: write_bill.py FOLDER, with the wheel and the sdist", file=sys.stderr)
        return 1
    sys.stdout.buffer.write(make_bill(released))
    return 0


if __name__ == "__main__":
    sys.exit(main())
