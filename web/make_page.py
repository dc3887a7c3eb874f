#!/usr/bin/env python3
"""The page as one file: the program, the worker, the examples and the styles in it.

usage: make_page.py PROGRAM.wasm FOLDER     writes FOLDER/index.html and FOLDER/ringside.html, which are the same
"""

import base64
import json
import lzma
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def read(name):
    with open(os.path.join(HERE, "page", name), encoding="utf-8") as file:
        return file.read()


def ask(program, *words):
    """What the program prints, run by Node."""
    run = os.path.join(HERE, "page", "run.js")
    return subprocess.run(["node", run, program, *words], check=True, capture_output=True, text=True).stdout


def files_of(path):
    """The files of an example, base64, by the name that the page shows."""
    whole = os.path.join(ROOT, path)
    paths = [os.path.join(whole, name) for name in sorted(os.listdir(whole))] if os.path.isdir(whole) else [whole]
    top = os.path.basename(path) + "/" if os.path.isdir(whole) else ""
    files = {}
    for one in paths:
        if os.path.basename(one) == "label.json":
            continue  # the answer
        with open(one, "rb") as file:
            files[top + os.path.basename(one)] = base64.b64encode(file.read()).decode()
    return files


def packed(data):
    """An .lzma with the size in it, which web/page/lzma.js unpacks."""
    options = {"id": lzma.FILTER_LZMA1, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 24, "lc": 4, "pb": 0}
    stream = bytearray(lzma.compress(data, lzma.FORMAT_ALONE, filters=[options]))
    stream[5:13] = len(data).to_bytes(8, "little")
    return base64.b64encode(stream).decode()


def in_script(value):
    """JSON that can stand in a <script>."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def main(program, folder):
    with open(program, "rb") as file:
        binary = packed(file.read())
    commands = json.loads(ask(program, "--command-line"))
    commands["version"] = ask(program, "--version").split()[-1]
    presets = re.findall(r"^ *([a-z0-9][a-z0-9-]+) ", ask(program, "topo", "--presets"), re.MULTILINE)
    with open(os.path.join(HERE, "examples.json"), encoding="utf-8") as file:
        examples = json.load(file)
    for one in examples:
        if "folder" in one:
            one["files"] = files_of(one.pop("folder"))
    parts = {"STYLE": read("page.css"), "PROGRAM": binary, "COMMANDS": in_script(commands), "PRESETS": in_script(presets),
             "EXAMPLES": in_script(examples), "WORKER": in_script("".join(map(read, ("wasi.js", "lzma.js", "worker.js")))), "PAGE": read("page.js")}
    page = re.sub(r"/\*([A-Z]+)\*/(null)?", lambda match: parts[match[1]], read("page.html"))
    os.makedirs(folder, exist_ok=True)
    for name in ("index.html", "ringside.html"):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(page)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
