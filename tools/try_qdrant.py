"""Run the tests of engines against a live Qdrant, and print a report that fits into an issue.

    python tools/try_qdrant.py http://localhost:6333

QDRANT_API_KEY is used if it is set. Collections are named `notes_` and eight digits and are deleted
at the end. Needs the checkout with its tests installed (`make quick` does that).
"""

import os
import platform
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from qdrant_client import QdrantClient

ROOT = Path(__file__).resolve().parent.parent
TESTS = ("tests/test_stores.py", "tests/test_store_filters.py", "tests/test_store_steps.py")
MADE = re.compile(r"notes_[0-9a-f]{8}")
MOST_LINES = 60
"""Lines of failures in a report."""


def main() -> int:
    """Return 0 if all tests passed."""
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    address = sys.argv[1]
    key = os.environ.get("QDRANT_API_KEY") or None
    client = QdrantClient(url=address, api_key=key, timeout=60, check_compatibility=False)
    present = _collections(client)
    server = client.info().version
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "--tb=line", "-rf", "-k", "qdrant"]
    done = subprocess.run(
        [*command, *TESTS],
        cwd=ROOT,
        env={**os.environ, "QDRANT_URL": address},
        capture_output=True,
        text=True,
        check=False,
    )
    for name in _collections(client) - present:
        client.delete_collection(name)
    print(f"Qdrant {server}, qdrant-client {version('qdrant-client')}")
    print(f"Foundry {version('rag-foundry')}, Python {platform.python_version()}\n\n```")
    # An address may tell more about a network than is meant for an issue.
    lines = (done.stdout + done.stderr).replace(address, "QDRANT_URL").strip().splitlines()
    print("\n".join(lines[-MOST_LINES:]) + "\n```")
    return done.returncode


def _collections(client: QdrantClient) -> set[str]:
    """Return the collections that tests may have made."""
    return {each.name for each in client.get_collections().collections if MADE.fullmatch(each.name)}


if __name__ == "__main__":
    sys.exit(main())
