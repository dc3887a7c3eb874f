#!/usr/bin/env python3
"""docs/reference/options.md: what `ringside VERB --help` prints, for every verb.

usage: options_page.py RINGSIDE          prints the page
       options_page.py RINGSIDE PAGE     status 1 and the names, when PAGE lacks an option of a verb or has one too many
"""

import re
import subprocess
import sys

OPTION = re.compile(r"^  (-[\w,-]+)", re.MULTILINE)
COMMANDS = re.compile(r"^Subcommands:\n((?:  .*\n)+)", re.MULTILINE)


def help_of(program, words):
    """The help of a verb, and of its sub-commands: [(words, text)]. Nothing of `gui` where its program is not built."""
    run = subprocess.run([program, *words, "--help"], capture_output=True, text=True)
    if words == ["gui"] and run.returncode == 3:
        return []
    run.check_returncode()
    text = run.stdout.rstrip() + "\n"
    commands = COMMANDS.search(text)
    names = re.findall(r"^  (\w+) ", commands[1], re.MULTILINE) if commands else []
    return [(words, text)] + [one for name in names for one in help_of(program, [*words, name])]


def page_of(helps):
    text = ("# Options\n\nWritten by `tests/cli/options_page.py build/dev/cli/ringside > docs/reference/options.md`; edits are lost.\n"
            "What each verb does: [the command line](command-line.md).\n")
    for words, lines in helps:
        text += f"\n## {' '.join(['ringside', *words])}\n\n```\n{lines}```\n"
    return text


def options_of(page):
    """The options of each section, {heading: names}."""
    parts = re.split(r"^## (.*)\n", page, flags=re.MULTILINE)[1:]
    return {heading: set(OPTION.findall(text)) for heading, text in zip(parts[::2], parts[1::2])}


def main(arguments):
    if len(arguments) not in (1, 2):
        print(__doc__, file=sys.stderr)
        return 2
    page = page_of(help_of(arguments[0], []))
    if len(arguments) == 1:
        print(page, end="")
        return 0
    with open(arguments[1], encoding="utf-8") as file:
        written = options_of(file.read())
    wrong = [f"{verb}: {', '.join(sorted(names ^ written.get(verb, set())))}"
             for verb, names in options_of(page).items() if names != written.get(verb)]
    wrong += [f"{verb}: no such verb" for verb in written.keys() - options_of(page).keys() if verb != "ringside gui"]
    for line in wrong:
        print(f"{arguments[1]}: {line}; tests/cli/options_page.py {arguments[0]} writes it again")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
