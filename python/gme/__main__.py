"""`python -m gme`: the command line, where no `gme` is on the path."""

from .cli import main

if __name__ == "__main__":
    main()
