"""The command `foundry`, and `python -m foundry`."""

import atexit
import gc
import sys


def main() -> None:
    """Run the command line; an interrupt during imports prints no traceback."""
    # Skips the garbage collection at exit, which takes a seventh of a short command's time.
    atexit.register(gc.freeze)
    try:
        from foundry.cli.main import main as command_line
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted\n")
        sys.exit(130)
    command_line()


if __name__ == "__main__":
    main()
