"""Finds the Chromium for browser tests.

The first one that starts is used: the system's, Playwright's, or the one in an npm package, which
needs only the C library. The npm package exists only for Linux on x86_64; elsewhere, Playwright
downloads its own Chromium. The variable CHROMIUM chooses one.
"""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

from filelock import FileLock
from node_packages import NODE, node_modules

NAMES = (
    *("chromium-headless-shell", "chrome-headless-shell"),
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
CARRIED = "carried"
"""The value of the variable CHROMIUM that chooses the Chromium from npm."""

IS_CARRIED = (sys.platform, platform.machine()) == ("linux", "x86_64")
UNPACK = """
import { inflate } from "@sparticuz/chromium";
const packed = process.cwd() + "/node_modules/@sparticuz/chromium/bin/";
for (const name of ["chromium.br", "al2023.tar.br", "fonts.tar.br"]) await inflate(packed + name);
"""
FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>{folder}/fonts/fonts</dir>
  <cachedir>{folder}/fonts-cache</cachedir>
</fontconfig>
"""
"""The fontconfig file for the Chromium from npm; the package's own names other folders."""

REMEDY = (
    "pages are tested in Chromium, and none starts: install the system's (on Debian"
    " `apt-get install chromium`), or run `python -m playwright install --with-deps chromium`"
)


@dataclass(frozen=True, slots=True)
class Chromium:
    """A program, and the variables that it needs."""

    program: str
    variables: dict[str, str] = field(default_factory=dict)


def find_chromiums(of_playwright: str) -> Iterator[Chromium]:
    """Yield the Chromiums of this machine, then the one from npm; some may not start.

    Where npm has none, Playwright's own is downloaded unless it is at `of_playwright`. If the
    variable CHROMIUM chooses one, only that one is yielded. Raises AssertionError if a download
    fails.
    """
    if chosen := os.environ.get("CHROMIUM"):
        yield unpack() if chosen == CARRIED else Chromium(chosen)
        return
    yield from map(Chromium, filter(None, map(shutil.which, NAMES)))
    if Path(of_playwright).exists():
        yield Chromium(of_playwright)
    if IS_CARRIED:
        yield unpack()
    elif not Path(of_playwright).exists():
        download()
        yield Chromium(of_playwright)


def download() -> None:
    """Let Playwright download the version of Chromium that it needs."""
    install = [sys.executable, "-m", "playwright", "install", "chromium"]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-1000:]


def unpack() -> Chromium:
    """Install the npm package that contains Chromium, and unpack it into a folder beside it."""
    folder = node_modules("chromium").parent
    unpacked = folder / "unpacked"
    with FileLock(folder / "lock"):
        if not (unpacked / "fonts.conf").exists():
            unpacked.mkdir(exist_ok=True)
            command = [NODE, "--input-type=module", "--eval", UNPACK]
            variables = {**os.environ, "TMPDIR": str(unpacked)}
            subprocess.run(command, cwd=folder, env=variables, check=True)
            (unpacked / "fonts.conf").write_text(
                FONTS.format(folder=escape(str(unpacked))), encoding="utf-8"
            )
    return Chromium(
        str(unpacked / "chromium"),
        {
            "LD_LIBRARY_PATH": str(unpacked / "al2023" / "lib"),
            "FONTCONFIG_FILE": str(unpacked / "fonts.conf"),
        },
    )
