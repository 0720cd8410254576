"""Write the blocks of README.md that declarations in foundry/features decide."""

from pathlib import Path

from foundry.features.documentation import document

README = Path(__file__).parent.parent / "README.md"


def main() -> None:
    """Write the file anew; nothing outside the blocks changes."""
    README.write_text(document(README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
