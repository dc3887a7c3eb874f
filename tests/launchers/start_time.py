#!/usr/bin/env python3
"""How long a job of many ranks takes until all have initialised, by their debug log, and until it has ended.

    tests/launchers/start_time.py PATH/OF/ringside [RANKS [TIMES [OPTIONS OF BENCH...]]]
"""
import os
import re
import subprocess
import sys
import time

program = sys.argv[1]
ranks = int(sys.argv[2]) if len(sys.argv) > 2 else 64
times = int(sys.argv[3]) if len(sys.argv) > 3 else 5
command = [program, "bench", "all_reduce", "-n", str(ranks), "-b", "8", "-e", "8", "--iters", "1", "--warmup", "0"]
command += sys.argv[4:]
environment = dict(os.environ, NCCL_DEBUG="INFO", NCCL_DEBUG_TIMESTAMP_FORMAT="[%s.%3f]",
                   NCCL_DEBUG_TIMESTAMP_LEVELS="INFO")
complete = re.compile(r"^\[(\d+\.\d+)\].* nranks %d .*Init COMPLETE" % ranks, re.MULTILINE)

for _ in range(times):
    load = os.getloadavg()[0]
    begun = time.time()
    run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    took = time.time() - begun
    stamps = [float(stamp) for stamp in complete.findall(run.stdout)]
    if run.returncode != 0 or len(stamps) != ranks:
        sys.exit(f"status {run.returncode}, {len(stamps)} of {ranks} ranks initialised\n{run.stdout[-2000:]}")
    print(f"{ranks} ranks initialised after {max(stamps) - begun:.2f} s, ended after {took:.2f} s, load {load:.2f}")
