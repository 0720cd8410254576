"""`python -m foundry` is the command `foundry`."""

from foundry.cli import main

if __name__ == "__main__":
    main()
