#!/usr/bin/env python3
"""Fills in the facts expected of new rows of the catalogue: those whose expected text is "?".

    fill_expected.py path/to/ringside_facts_test

The test binary prints what each sample yields; this writes it into the row's file. Read the result before you commit
it: a wrong field is as easily filled in as a right one.
"""
import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "diag/logparse/rows"
ENTRY = re.compile(r"^RINGSIDE_(PROGRAM|REPORTER|ROW|FORM|NOT|MEANS|PLACE)\(")


def main() -> int:
    out = subprocess.run([sys.argv[1], "--gtest_filter=FactCatalogue.EachSampleYieldsItsFacts"],
                         env={"RINGSIDE_PRINT_FACTS": "1"}, capture_output=True, text=True).stdout
    actual = dict(line.split("\t", 2)[1:] for line in out.splitlines() if line.startswith("FACTS\t"))
    index = 0
    for path in sorted(FOLDER.glob("*.def")):
        if path.name == "all.def":
            continue
        lines = path.read_text().splitlines()
        for i, line in enumerate(lines):
            if not ENTRY.match(line):
                continue
            if line.endswith(', "?")'):
                text = actual.get(str(index), "").replace("\\", "\\\\").replace('"', '\\"')
                if not text:
                    print(f"{path.name}:{i + 1}: the sample yields no fact of its row")
                else:
                    lines[i] = line[:-len('"?")')] + f'"{text}")'
            index += 1
        path.write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
