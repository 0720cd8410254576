"""Mapped lines of an index larger than memory: the kernel should not read ahead."""

from pathlib import Path

from systems import needs_proc

from foundry.runtime.index.layout import open_bytes

MAPS = Path("/proc/self/smaps")


def flags_of(path: Path) -> list[str]:
    """Return the kernel's flags for the mapping of a file."""
    _, _, rest = MAPS.read_text(encoding="ascii", errors="replace").partition(str(path))
    return rest.partition("VmFlags:")[2].partition("\n")[0].split()


@needs_proc
def test_neighbours_of_a_line_are_not_read_with_it(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"0123456789" * 1_000)
    lines = open_bytes(path, 10_000)
    assert "rr" in flags_of(path)
    assert bytes(lines[9_998:]) == b"89"
