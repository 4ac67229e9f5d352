"""`python -m coevo`: the command, for environments whose scripts are not on PATH."""

from coevo.command.main import main

if __name__ == '__main__':
    raise SystemExit(main())
