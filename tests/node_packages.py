"""Packages of npm that tests run, installed once into folders of the environment."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def node_modules(*packages: str) -> Path:
    """Install packages, with their versions; skips the test where npm is missing or fails."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("needs npm")
    name = hashlib.sha256("\n".join(packages).encode()).hexdigest()[:12]
    folder = Path(sys.prefix) / "node-tools" / name
    mark = folder / "complete"
    if not mark.exists():
        folder.mkdir(parents=True, exist_ok=True)
        flags = ["--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts"]
        command = [npm, "install", *flags, *packages]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"npm cannot install them here: {done.stderr[-300:]}")
        mark.touch()
    return folder / "node_modules"
