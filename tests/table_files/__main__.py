"""``python -m tests.table_files DIR``: check the reader on a folder of EXPECTED.json and files/.

Prints what is not as expected, then ``N passed, N failed, N skipped``; a file that is not there is skipped.
"""

import sys
import time
from pathlib import Path

from tests.table_files.check import expected, faults


def main(arguments: list[str]) -> int:
    """Return 0 if every file that is there is as expected."""
    if len(arguments) != 1 or not (Path(arguments[0]) / "EXPECTED.json").is_file():
        print("usage: python -m tests.table_files DIR, which holds EXPECTED.json and files/")
        return 2
    folder = Path(arguments[0])
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for name, want in expected(folder).items():
        path = folder / "files" / name
        if not path.is_file():
            counts["skipped"] += 1
            print(f"skipped {name}: no such file")
            continue
        begin = time.perf_counter()
        found = faults(path, want)
        counts["failed" if found else "passed"] += 1
        for fault in found:
            print(f"failed {name} ({want['verdict']}): {fault} [{time.perf_counter() - begin:.2f} s]")
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
