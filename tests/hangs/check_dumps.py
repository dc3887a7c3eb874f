#!/usr/bin/env python3
"""Reads generated Flight Recorder dumps with Python's own pickle and json.

usage: check_dumps.py FOLDER [CORPUS]
Every dump below FOLDER loads, holds only the opcodes that PyTorch writes, and its JSON twin says the same.
With CORPUS (the folder that holds fr/ and fr-torch/) each dump also has the keys and the kinds of value
that real dumps of the same version have, and a culprit's dump shows what those of real ones show. Prints what is wrong; status 1 when something is.
"""

import json
import os
import pickle
import pickletools
import sys

OPCODES = set("PROTO EMPTY_DICT EMPTY_LIST EMPTY_TUPLE MARK SETITEMS APPENDS TUPLE TUPLE1 TUPLE2 TUPLE3 "
              "BINUNICODE BINUNICODE8 BININT1 BININT2 BININT LONG1 BINFLOAT NONE NEWTRUE NEWFALSE BINPUT "
              "LONG_BINPUT BINGET LONG_BINGET STOP".split())
# What a recorder adds by its settings, not by its version.
OPTIONAL = {"frames", "duration_ms"}


class Plain(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"refers to {module}.{name}")


def dumps_below(folder):
    for path, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if "_rank_" in name and not name.startswith(("rank_", "stack_")) or name.startswith("dump_"):
                yield os.path.join(path, name)


def load(path):
    if path.endswith(".json"):
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    with open(path, "rb") as file:
        return Plain(file).load()


def kind(value):
    """The kind of a value; whether a time is known yet makes no difference."""
    if value is None or isinstance(value, int) and not isinstance(value, bool):
        return "int"
    if isinstance(value, (list, tuple)):
        return type(value).__name__ + "[" + ",".join(sorted({kind(item) for item in value})) + "]"
    return type(value).__name__


def shape(dump):
    """Keys of the dump, of its entries, of a group's configuration and status, with kinds of values."""
    found = {"top": set(dump)}
    for name in ("pg_config", "pg_status"):
        found[name] = {(key, kind(value)) for group in dump.get(name, {}).values()
                       for key, value in group.items()}
    found["entry"] = {(key, kind(value)) for entry in dump.get("entries", [])
                      for key, value in entry.items() if key not in OPTIONAL}
    return found


def twin_differences(pickled, text):
    left, right = pickled.get("entries", []), text.get("entries", [])
    if len(left) != len(right):
        yield f"{len(left)} entries, {len(right)} in the JSON"
    for a, b in zip(left, right):
        plain = json.loads(json.dumps(a))
        plain.pop("frames", None)
        for key, value in plain.items():
            other = b.get(key)
            same = other == (0 if value is None else value)
            if key == "duration_ms":
                same = abs(other - value) < 1e-6
            if not same:
                yield f"record {a['record_id']}: {key} is {value!r}, {other!r} in the JSON"


def label_of(folder):
    for name in ("truth.json", "label.json"):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                return json.load(file)
    return {}


def traces(corpus, backend):
    """class -> what the dumps of its culprits show: no dump, nothing pending, something pending."""
    found = {}
    for folder, _, names in os.walk(corpus):
        label = label_of(folder)
        # A lost dump and one taken after an error show what was lost, not what was done.
        if "class" not in label or label.get("dump_moment") != "hung" or label.get("dumps_removed"):
            continue
        if label.get("recorder", {}).get("backend", "gloo") not in backend:
            continue
        for rank in label["diverged_ranks"]:
            path = [os.path.join(folder, name) for name in names
                    if name.split(".")[0].endswith(f"_rank_{rank}") and not name.startswith(("rank", "stack"))]
            if not path:
                seen = "no dump"
            else:
                dump = load(path[0])
                entries = dump.get("entries", []) if isinstance(dump, dict) else dump
                pending = [e for e in entries if not e["retired"] and e["state"] != "completed"]
                seen = "something pending" if pending else "nothing pending"
            found.setdefault(label["class"], set()).add(seen)
    return found


def check(folder, corpus):
    real = {}
    for path in dumps_below(corpus) if corpus else ():
        dump = load(path)
        # dump_N.json of the corpus was written by Python, after the pickle: not by PyTorch.
        if os.path.basename(path).startswith("dump_") and path.endswith(".json"):
            continue
        key = dump["version"], path.endswith(".json")
        whole = real.setdefault(key, {})
        for part, items in shape(dump).items():
            whole.setdefault(part, set()).update(items)
    count = 0
    compared = set()
    for path in dumps_below(folder):
        count += 1
        dump = load(path)
        if not path.endswith(".json"):
            with open(path, "rb") as file:
                strange = {op.name for op, _, _ in pickletools.genops(file.read())} - OPCODES
            if strange:
                yield f"{path}: opcodes {sorted(strange)}"
            if os.path.exists(path + ".json"):
                for difference in twin_differences(dump, load(path + ".json")):
                    yield f"{path}: {difference}"
        if not isinstance(dump, dict):
            continue
        key = dump["version"], path.endswith(".json")
        if key not in real:
            continue
        compared.add(key)
        for part, items in shape(dump).items():
            extra = items - real[key][part]
            # The library's version has another name where the backend is NCCL's of an older release.
            extra -= {"nccl_version", "comm_lib_version"}
            if extra:
                yield f"{path}: {part}: no real dump has {sorted(map(str, extra))}"
    if count == 0:
        yield f"{folder}: no dumps"
    if corpus:
        real_traces = traces(corpus, ("gloo",))
        # gloo's recorder marks a transfer retired when the call returns.
        real_traces.pop("p2p_unmatched", None)
        for fault, seen in sorted(traces(folder, ("gloo", "nccl")).items()):
            extra = seen - real_traces.get(fault, seen)
            if extra:
                yield f"{folder}: {fault}: no real culprit leaves {sorted(extra)}"
        print(f"{count} dumps read, those of {sorted(compared)} compared with real ones")


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    wrong = list(check(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else None))
    for line in wrong[:20]:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
