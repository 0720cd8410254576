"""The command `foundry`, and `python -m foundry`."""

import atexit
import gc
import sys


def main() -> None:
    """Run the command line; an interrupt during imports prints no traceback either."""
    # The garbage collector runs again at exit: a seventh of the time of a short command.
    atexit.register(gc.freeze)
    try:
        from foundry.cli.main import main as command_line
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted\n")
        sys.exit(130)
    command_line()


if __name__ == "__main__":
    main()
