#!/usr/bin/env python3
"""Reads real dumps with Python's own pickle and looks for the documented keys of format 2.10.

usage: check_keys.py FOLDER     prints what is missing; status 1 when something is
"""

import os
import pickle
import sys

TOP = {"version", "pg_config", "pg_status", "comm_lib_version", "entries", "ringside"}
GROUP = {"name", "desc", "ranks"}
STATUS = {"last_enqueued_collective", "last_started_collective", "last_completed_collective"}
ENTRY = {"record_id", "pg_id", "process_group", "collective_seq_id", "p2p_seq_id", "op_id", "profiling_name",
         "time_created_ns", "input_sizes", "input_dtypes", "output_sizes", "output_dtypes", "state",
         "time_discovered_started_ns", "time_discovered_completed_ns", "retired", "timeout_ms", "is_p2p",
         "thread_id", "thread_name"}
PROGRESS = {"process_group", "channel", "protocol", "slot_size", "index", "peer", "direction", "messages", "bytes",
            "waiting"}


def missing(path):
    with open(path, "rb") as file:
        dump = pickle.load(file)
    yield from sorted(TOP - set(dump))
    for group in dump["pg_config"].values():
        yield from sorted(GROUP - set(group))
    for status in dump["pg_status"].values():
        yield from sorted(STATUS - set(status))
    for entry in dump["entries"]:
        yield from sorted(ENTRY - set(entry))
        if entry["state"] not in ("scheduled", "started", "completed"):
            yield f"state {entry['state']}"
        if not isinstance(entry["process_group"], tuple) or len(entry["process_group"]) != 2:
            yield f"process_group {entry['process_group']}"
    for progress in dump["ringside"]["progress"]:
        yield from sorted(PROGRESS - set(progress))
    if not dump["entries"] or not dump["ringside"]["progress"] or not dump["ringside"]["reason"]:
        yield "a dump without entries, progress or reason"


def main():
    if len(sys.argv) != 2:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    wrong = [f"{name}: {what}" for name in sorted(os.listdir(sys.argv[1]))
             for what in missing(os.path.join(sys.argv[1], name))]
    for line in wrong[:20]:
        print(line)
    return 1 if wrong or not os.listdir(sys.argv[1]) else 0


if __name__ == "__main__":
    sys.exit(main())
