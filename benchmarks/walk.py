"""The builder's modules that an export passes through: `python benchmarks/walk.py PROJECT`.

This exports a built project into a temporary folder. It prints each module that was called from
another one, how often, and which of its functions got the whole configuration more than once,
because those may decide the same thing repeatedly.
"""

import argparse
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import foundry
from foundry.config.project import Config
from foundry.pipeline import export

PACKAGE = Path(foundry.__file__).parent


@dataclass(slots=True)
class Walk:
    """Calls during a run: modules in order of visits, and functions."""

    visits: list[str] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)

    def note(self, frame: FrameType, event: str, _argument: object) -> None:
        """Record a call, as reported by `sys.setprofile`."""
        module = module_of(frame)
        if event != "call" or module is None:
            return
        caller = frame.f_back
        while caller is not None and module_of(caller) is None:
            caller = caller.f_back
        if caller is not None and module_of(caller) != module:
            self.visits.append(module)
        code = frame.f_code
        if caller is not None and caller.f_code is code:
            return
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if any(isinstance(frame.f_locals.get(name), Config) for name in names):
            self.asked[f"{module}: {code.co_qualname}"] += 1


def module_of(frame: FrameType) -> str | None:
    """Return the builder's module that a call is in; None for shipped and other modules."""
    file = Path(frame.f_code.co_filename)
    if not file.is_relative_to(PACKAGE) or frame.f_code.co_name.startswith("<"):
        return None
    module = ".".join(file.relative_to(PACKAGE).with_suffix("").parts)
    return None if module.startswith("runtime.") else module


def walk_export(project: Path) -> Walk:
    """Export a project, and record a second export, when everything has been imported."""
    walk = Walk()
    with tempfile.TemporaryDirectory() as scratch:
        for place in ("first", "second"):
            if place == "second":
                sys.setprofile(walk.note)
            try:
                export(project, Path(scratch, place), print, force=False, trust=True)
            finally:
                sys.setprofile(None)
    return walk


def main() -> None:
    """Trace an export and print its way."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("project", type=Path)
    walk = walk_export(parser.parse_args().project)
    visits = Counter(walk.visits)
    lines = [f"{count:5} {module}" for module, count in visits.items()]
    lines.append(f"{len(visits)} modules; {sum(visits.values())} calls from one into another")
    lines.append("functions that were given the configuration:")
    lines += [f"{count:5} {function}" for function, count in walk.asked.items()]
    lines.append(f"{len(walk.asked)} functions, {sum(walk.asked.values())} calls")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
