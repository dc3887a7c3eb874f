#!/usr/bin/env python3
"""Each option that `--help` of a verb shows is in its manual page, and in the completions for bash, zsh and fish; and no other.
Its exit statuses are those of docs/reference/command-line.md.

usage: manual_test.py RINGSIDE PAGES     the program, and the folder that ringside-manual wrote
Of fish and zsh, where they are not installed, the text of the script is read.
"""

import os
import re
import shutil
import subprocess
import sys

from options_page import help_of

NAMES = re.compile(r"^  (-[\w,-]+)", re.MULTILINE)


def options_of(text):
    return {name for names in NAMES.findall(text) for name in names.split(",")}


def read(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def in_manual(folder, words):
    """The options of a verb in its page; of a verb below it, in its section."""
    page = read(folder, "-".join(["ringside", *words[:1]]) + ".1").replace("\\-", "-")
    if len(words) > 1:
        page = page.split(f".SS {' '.join(['ringside', *words])}\n")[1]
    elif ".SH OPTIONS\n" in page:
        page = page.split(".SH OPTIONS\n")[1]
    page = re.split(r"^\.S[SH] ", page, flags=re.MULTILINE)[0]
    heads = re.findall(r"^\.TP\n(.*)$", page, re.MULTILINE)
    return {name for head in heads for name in re.findall(r"\\fB(-[\w-]+)\\fR", head)}


def in_bash(folder, words, last="-"):
    """What the completion offers in place of the last word: the script runs."""
    line = ["ringside", *words, last]
    script = (f"source {folder}/ringside.bash; COMP_WORDS=({' '.join(map(repr, line))}); COMP_CWORD={len(line) - 1}; "
              "_ringside; printf '%s\\n' \"${COMPREPLY[@]}\"")
    run = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def in_fish(folder, words):
    command = " ".join(["ringside", *words])
    if shutil.which("fish"):
        # A single hyphen lists short names first; both kinds of names are wanted.
        offered = set()
        for start in ("-", "--"):
            run = subprocess.run(["fish", "--no-config", "-c", f"source {folder}/ringside.fish; complete -C '{command} {start}'"],
                                 capture_output=True, text=True, check=True)
            offered |= {line.split("\t")[0] for line in run.stdout.splitlines()}
        return {name for name in offered if name.startswith("-")}
    lines = [line for line in read(folder, "ringside.fish").splitlines() if f"'__ringside_is {command}'" in line]
    text = "\n".join(line.split(" -d ")[0] for line in lines)
    return {"--" + name for name in re.findall(r" -l ([\w-]+)", text)} | {"-" + name for name in re.findall(r" -s (\w)", text)}


def in_zsh(folder, words):
    command = " ".join(["ringside", *words])
    part = read(folder, "_ringside").split(f"    ('{command}')\n")[-1].split(";;")[0]
    return set(re.findall(r"^        '(-[\w-]+):", part, re.MULTILINE))


def exit_statuses(folder):
    """The exit statuses of the program's page and those of the reference: two texts of one rule."""
    section = read(folder, "ringside.1").split(".SH EXIT STATUS\n")[1].split("\n.SH ")[0]
    in_page = dict(re.findall(r"^\.TP\n(\d)\n(.*)$", section, re.MULTILINE))
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    in_reference = dict(re.findall(r"^\| (\d) \| (.*) \|$", read(root, "docs/reference/command-line.md"), re.MULTILINE))
    return in_page, {status: text.replace("`", "") for status, text in in_reference.items()}


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    program, folder = arguments[0], os.path.abspath(arguments[1])
    wrong, count = [], 0
    for words, text in help_of(program, []):
        expected = options_of(text)
        count += len(expected)
        for where, find in (("manual", in_manual), ("bash", in_bash), ("zsh", in_zsh), ("fish", in_fish)):
            found = find(folder, words)
            if found != expected:
                wrong.append(f"{' '.join(['ringside', *words])}: {where}: {', '.join(sorted(found ^ expected))}")
    in_page, in_reference = exit_statuses(folder)
    if in_page != in_reference or len(in_page) != 4:
        wrong.append(f"exit status: {in_page} in the manual, {in_reference} in docs/reference/command-line.md")
    if shutil.which("zsh") and subprocess.run(["zsh", "-n", folder + "/_ringside"]).returncode:
        wrong.append("zsh cannot read _ringside")
    for words, last, expected in ((["audit", "--color"], "", {"auto", "always", "never"}), (["audit", "--color", "="], "al", {"always"}),
                                  ([], "hel", set()), ([], "tra", {"trace"}), (["trace"], "inf", {"info"}), (["audit"], "x", set())):
        if in_bash(folder, words, last) != expected:
            wrong.append(f"bash: {words} '{last}' offers {in_bash(folder, words, last)}")
    print("\n".join(wrong) if wrong else f"{count} options")
    return 1 if wrong or count < 100 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
