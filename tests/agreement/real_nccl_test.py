#!/usr/bin/env python3
"""What a real NCCL chose on hosts with one H200 each, and the table that it chose by, against `ringside explain`.

usage: real_nccl_test.py RINGSIDE     h200/N-hosts.txt: lines of NCCL's log; h200/topo.xml: the host as NCCL dumped it
"""

import json
import os
import re
import subprocess
import sys
import unittest

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "h200")
VERBS = {"AllReduce": "all_reduce", "AllGather": "all_gather", "ReduceScatter": "reduce_scatter",
         "Broadcast": "broadcast", "Reduce": "reduce"}
ALGORITHMS = (("tree", "ring", "collnet_direct"), ("collnet_chain", "nvls", "nvls_tree"), ("pat",))
PROTOCOLS = ("ll", "ll128", "simple")
CHOICE = re.compile(r"(\w+): (\d+) Bytes -> Algo (\w+) proto (\w+) channel\{Lo\.\.Hi\}=\{(\d+)\.\.(\d+)\}")
RINGSIDE = ""


def explain(collective, hosts, size):
    """NCCL's log counts the bytes of one rank's part of a gather, `explain` those of the whole."""
    whole = size * hosts if collective in ("AllGather", "ReduceScatter") else size
    run = subprocess.run(
        [RINGSIDE, "explain", VERBS[collective], "--on", os.path.join(HERE, "topo.xml"), "--nodes", str(hosts),
         "--nccl", "2.28.9", "--bytes", str(whole), "--json"], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def lines_of(hosts):
    with open(os.path.join(HERE, f"{hosts}-hosts.txt"), encoding="ascii") as file:
        return file.read().splitlines()


def table_of(lines):
    """{collective: {(algorithm, protocol): (latency in us, bandwidth in GB/s)}}"""
    table, block = {}, -1
    for line in lines:
        cells = [cell.strip() for cell in line.split("|")]
        if cells[0] == "Algorithm":
            block += 1
        elif cells[0] in VERBS and block >= 0:
            names = [(a, p) for a in ALGORITHMS[block] for p in PROTOCOLS]
            for name, cell in zip(names, cells[1:]):
                latency, bandwidth = cell.split("/")
                table.setdefault(cells[0], {})[name] = (float(latency), float(bandwidth))
    return table


class RealNccl(unittest.TestCase):
    def test_choices_are_equal(self):
        compared = 0
        for hosts in (2, 4, 8):
            for line in lines_of(hosts):
                match = CHOICE.match(line)
                if not match:
                    continue
                name, size, algorithm, protocol, low, high = match.groups()
                answer = explain(name, hosts, int(size))["choices"][0]
                with self.subTest(hosts=hosts, line=line):
                    self.assertEqual(
                        (answer["algorithm"], answer["protocol"], answer["channels_used"]),
                        (algorithm.lower(), protocol.lower(), int(high) - int(low) + 1))
                compared += 1
        self.assertEqual(compared, 45)

    def test_latencies_are_equal(self):
        compared = 0
        for hosts in (2, 4, 8):
            for name, cells in table_of(lines_of(hosts)).items():
                times = {(one["algorithm"], one["protocol"]): one for one in explain(name, hosts, 4)["table"]}
                for key, (latency, bandwidth) in cells.items():
                    known = times.get(key)
                    if bandwidth == 0 or known is None or not known["available"]:
                        continue
                    # At 4 bytes a rank the table's time is its latency: the bytes take less than 0.1 us. LL trees are
                    # corrected by size, so they are compared by their choices alone.
                    if key == ("tree", "ll"):
                        continue
                    with self.subTest(hosts=hosts, collective=name, key=key):
                        self.assertAlmostEqual(known["time_us"], latency, delta=0.15)
                    compared += 1
        self.assertGreater(compared, 20)


if __name__ == "__main__":
    RINGSIDE = sys.argv.pop(1)
    unittest.main()
