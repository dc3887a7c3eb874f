#!/usr/bin/python3
"""Runs the scripts of examples/pytorch with their mistakes, and has `ringside hang` name the cause from the dumps.

    hung_scripts.py RINGSIDE [NAME ...]

Each hang ends within its time-out and 3 s, counted from the moment when the call that hangs was made: by then the ranks that
wait have got their error, and their processes have ended. That is judged with RINGSIDE_TIMED=1, on an idle machine, one job at a
time: a process of PyTorch takes up to 0.4 s of CPU to end, over any backend. All ranks are forked from this process, which imports
PyTorch once.
`ringside reproduce` then makes a script of the dumps, whose own dumps must show the same kind of hang and the same culprits.
Where PyTorch has torchfrtrace (2.14), what it finds in the dumps is printed, too.
"""

import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from forked_ranks import VERSION, start

TIMEOUT_S = 3
END_S = 3
CROWDED_END_S = 27
IS_TIMED = os.environ.get("RINGSIDE_TIMED") == "1"
SIDE_BY_SIDE = 1 if IS_TIMED else 4  # side by side, jobs also wait for each other's processes to end

# The ranks make different calls: which difference shows first depends on the call.
DIFFERENT = {"op_mismatch", "dtype_mismatch", "shape_mismatch", "diverged_control_flow"}
# name: script and arguments, ranks, faults, kinds of which the verdict is one, culprits
CASES = {
    "skipped": ("all_reduce.py", 2, "skip:rank=1,call=12", {"missing_rank"}, [1]),
    "skipped of 4": ("all_reduce.py", 4, "skip:rank=2,call=5", {"missing_rank"}, [2]),
    "stopped": ("all_reduce.py", 3, "stall:rank=1,call=7", {"missing_rank"}, [1]),
    "forgotten": ("async_work.py forget", 2, "", {"missing_rank"}, [1]),
    "unused": ("ddp.py unused", 2, "", DIFFERENT, [1]),
    "uneven": ("ddp.py uneven", 3, "", DIFFERENT, [1]),
    "validate": ("ddp.py validate", 3, "", DIFFERENT, [0]),
    "checkpoint": ("ddp.py checkpoint", 3, "", DIFFERENT, [0]),
    "shape": ("ddp.py shape", 3, "", {"shape_mismatch"}, [1]),
    "skip_nan": ("ddp.py skip_nan", 3, "", DIFFERENT, [1]),
    "swap": ("two_groups.py swap", 2, "", {"deadlock_cycle"}, [1]),
    "lost": ("pipeline.py lost", 3, "", {"p2p_unmatched"}, [0]),
    "cycle": ("pipeline.py cycle", 3, "", {"deadlock_cycle"}, [0]),
    "killed": ("all_reduce.py", 3, "kill:rank=2,call=9", {"dead_rank"}, [2]),
    "stalled link": ("all_reduce.py", 3, "stall_link:from=1,to=2,step=9", {"network_stall"}, []),
}  # fmt: skip
if VERSION >= (2, 6):
    CASES["conditional layer"] = ("fsdp.py conditional", 3, "", DIFFERENT, [1])
if VERSION >= (2, 14):
    CASES["conditional layer of FSDP2"] = ("fsdp.py 2 conditional", 3, "", DIFFERENT, [1])


def hang_began(folder):
    """When the first call that is still pending was made, in seconds since 1970; by the dumps."""
    began = []
    for path in Path(folder).glob("nccl_trace_rank_*"):
        dump = pickle.loads(path.read_bytes())
        began += [one["time_created_ns"] / 1e9 for one in dump["entries"] if one["state"] != "completed"]
    return min(began) if began else None


def failed_at(folder):
    """By rank: when it noticed the failure, in seconds since 1970; by its log."""
    times = {}
    for path in Path(folder).glob("rank_*.log"):
        found = re.search(r"^failed at (\S+)$", path.read_text(), re.MULTILINE)
        if found:
            times[int(path.stem.removeprefix("rank_"))] = float(found[1])
    return times


def wait_for(children):
    """Ends the ranks that go on for END_S after the first one ended in failure. Returns when each rank ended, in seconds since 1970."""
    left = set(children)
    failed = None
    ends = {}
    while left:
        for child in list(left):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                left.discard(child)
                ends[children.index(child)] = time.time()
                if status != 0 and failed is None:
                    failed = time.time()
        if failed is not None and time.time() > failed + END_S:
            for child in left:
                os.kill(child, 9)
        time.sleep(0.02)
    return ends


def json_of(program, *words):
    answer = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    return json.loads(answer.stdout) if answer.stdout else {"error": answer.stderr}


def verdict_of(program, folder):
    answer = json_of(program, "hang", "--json", folder)
    return answer.get("verdict") or {"kind": answer.get("error"), "culprits": []}


def torchfrtrace(folder):
    """The first finding of PyTorch's own tool, or its last line; empty: this PyTorch has no such tool."""
    if VERSION < (2, 14):
        return ""
    words = [sys.executable, "-m", "torch.distributed.flight_recorder.fr_trace", "--allow-incomplete-ranks"]
    answer = subprocess.run([*words, "--prefix", "nccl_trace_rank_", folder], capture_output=True, text=True, check=False)
    if os.environ.get("KEEP"):
        Path(folder, "torchfrtrace.txt").write_text(answer.stdout + answer.stderr)
    text = answer.stdout + answer.stderr
    found = re.search(r"(error msg|missing ranks): .*", text)
    return found[0] if found else (text.strip().splitlines() or ["no output"])[-1]


def run_case(program, name, children, folder):
    ends = wait_for(children)
    failed = failed_at(folder)
    _, ranks, _, kinds, culprits = CASES[name]
    dumps = sorted(path.name for path in Path(folder).glob("nccl_trace_rank_*"))
    if not failed:
        return f"{name}: the job did not hang"
    began = hang_began(folder)
    if not dumps or began is None:
        return f"{name}: dumps {dumps} show no pending call; see {folder}"
    took = min(failed.values()) - began
    # Of the ranks that got an error: others compute on, and this test ends them.
    ended = max(ends[rank] for rank in failed) - began
    verdict = verdict_of(program, folder)
    text = (
        f"{name}: {verdict['kind']} {verdict['culprits']}, error {took:.1f} s and end {ended:.1f} s after the call was made, "
        f"{len(dumps)} dumps"
    )
    wrong = verdict["kind"] not in kinds or verdict["culprits"] != culprits
    # The times of a machine that does other things say nothing: there, only an error that waits for something else is late.
    late = max(took, ended) > TIMEOUT_S + END_S if IS_TIMED else took > TIMEOUT_S + CROWDED_END_S
    theirs = torchfrtrace(folder)
    print(("WRONG " if wrong else "LATE " if late else "") + text + (f"\n    torchfrtrace: {theirs}" if theirs else ""), flush=True)
    if wrong:
        return f"{text}; wanted one of {sorted(kinds)} {culprits}"
    return f"{text}: too late" if late else None


def reproduce(program, name, folder):
    """Makes a script of the dumps. Returns the words of its run, the faults for it and the verdict on the dumps, or what is wrong."""
    script = os.path.join(folder, "hang.py")
    made = json_of(program, "reproduce", "--json", folder, "--script", script)
    if not os.path.isfile(script):
        return None, f"{name}: reproduce wrote no script: {made}; see {folder}"
    return ([script], made["script_options"].removeprefix("--fault "), made["original"]), None


def compare_again(program, name, children, folder, original):
    """Compares the verdict on the dumps of the reproduced script with the original one. Returns what is wrong."""
    wait_for(children)
    verdicts = [(one["kind"], one["culprits"]) for one in (original, verdict_of(program, folder))]
    print(f"{name}: its script: {verdicts[1][0]} {verdicts[1][1]}", flush=True)
    return None if verdicts[0] == verdicts[1] else f"{name}: {verdicts[0]}, and its script {verdicts[1]}; see {folder}"


def in_parallel(function, program, jobs):
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        return list(filter(None, pool.map(lambda job: function(program, *job), jobs)))


def main():
    program, *names = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="hung-scripts-", ignore_cleanup_errors=True) as top:
        failures = []
        pending = list(names or CASES)
        while pending:
            batch, pending = pending[:SIDE_BY_SIDE], pending[SIDE_BY_SIDE:]
            folders = {}
            jobs = []
            for name in batch:
                script, ranks, faults, *_ = CASES[name]
                folders[name] = os.path.join(top, name.replace(" ", "_"))
                os.mkdir(folders[name])
                children = start(ranks, script.split(), folders[name], TIMEOUT=str(TIMEOUT_S), RINGSIDE_FAULTS=faults)
                jobs.append((name, children, folders[name]))
            failures += in_parallel(run_case, program, jobs)
            jobs = []
            for name in batch:
                made, failure = reproduce(program, name, folders[name])
                if failure:
                    failures.append(failure)
                    continue
                words, faults, original = made
                again = os.path.join(folders[name], "again")
                os.mkdir(again)
                children = start(CASES[name][1], words, again, RINGSIDE_OP_TIMEOUT=str(TIMEOUT_S), RINGSIDE_FAULTS=faults)
                jobs.append((name, children, again, original))
            failures += in_parallel(compare_again, program, jobs)
        for failure in failures:
            print(f"failed: {failure}", file=sys.stderr)
        if failures and os.environ.get("KEEP"):
            shutil.copytree(top, os.environ["KEEP"])
        sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
