"""The command `foundry`, and `python -m foundry`."""

import sys


def main() -> None:
    """Run the command line; an interrupt while its modules are loaded is no traceback either."""
    try:
        from foundry.cli.main import main as command_line
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted\n")
        sys.exit(130)
    command_line()


if __name__ == "__main__":
    main()
