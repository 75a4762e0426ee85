"""``python -m tests.conformance [DIR]``: the core against the arrays in DIR, by default the set shipped here.

Names every array that fails or is skipped, ends with a line of counts, and exits with 1 if one failed.
"""

import argparse
import sys
from pathlib import Path

from tests.conformance.check import SHIPPED, check_folder, summary


def main(arguments: list[str]) -> int:
    """Print the verdicts; 0 if none is a failure."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("folder", metavar="DIR", nargs="?", type=Path, default=SHIPPED)
    verdicts = check_folder(parser.parse_args(arguments).folder)
    for verdict in verdicts:
        if verdict.status != "passed":
            print(f"{verdict.status} {verdict.name}: {verdict.reason}")
    print(summary(verdicts))
    return int(any(verdict.status == "failed" for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
