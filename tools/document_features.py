"""Write the blocks of docs/ that declarations in foundry/features decide."""

from pathlib import Path

from foundry.features.documentation import document

DOCS = Path(__file__).parent.parent / "docs"


def main() -> None:
    """Write the file anew; nothing outside the blocks changes."""
    for page in sorted(DOCS.glob("*.md")):
        page.write_text(document(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
