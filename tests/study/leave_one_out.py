#!/usr/bin/env python3
"""How well the simulator predicts systems of a group that its constants have not seen (docs/lab/accuracy.md, second table).

    leave_one_out.py RINGSIDE PUBLISHED WORK_FOLDER [--write]

A group is a generation of GPUs, what joins them within a host, and what joins the hosts. Scores PUBLISHED with the constants that
ship, and once more for each constant of sim/models/constants.csv moved a little; what is kept in WORK_FOLDER is not run again. Over
those answers, made linear in the logarithms, the constants are fitted without one group, and that group's rows predicted: least
absolute error, each system's size class of one weight, a normal prior of each logarithm around what specification or physics gives
(columns prior, low, high: low and high are one deviation apart from the prior). Prints tables in Markdown.
--write: the constants as fitted to all groups into sim/models/measured.yaml and constants.csv, from which the next fit may start.
Takes some 35 runs of `ringside validate`.
"""

import csv
import json
import math
import os
import re
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

MODELS = os.path.join(os.path.dirname(__file__), "..", "..", "sim", "models")
PROTOCOLS = ["ll", "ll128", "simple"]
GENERATIONS = ["volta", "ampere", "hopper", "blackwell"]
CLASSES = ("<= 64 KiB", "64 KiB .. 16 MiB", ">= 16 MiB")
MORE, LESS = 1.08, 0.94  # a share cannot be moved up: it ends at 1
SCALE = 0.3  # of an error's logarithm, compared with which a prior's deviation counts
FEW = 3  # systems: with less the prior's deviation is a third


def paths_of(path):
    """net.ib+roce.nic is net.ib.nic and net.roce.nic, which have one value."""
    found = [""]
    for part in path.split("."):
        found = [f"{before}.{one}" if before else one for before in found for one in part.split("+")]
    return found


def place_of(text, path):
    """Start and end of a constant's number in the model's text."""
    start, end = 0, len(text)
    for part in path.split("."):
        opened = re.compile(r"\s*\[").match(text, start)
        if part in PROTOCOLS and opened:
            start = opened.end()
            for _ in range(PROTOCOLS.index(part)):
                start = text.index(",", start) + 1
            break
        before = r"(^ +|[{,] *)" if start else "(^)"
        found = re.compile(f"{before}{part}:", re.M).search(text, start, end)
        start = found.end()
        if not found[1].strip():
            after = re.compile(rf"^ {{0,{len(found[1])}}}[^ #\n]", re.M).search(text, text.find("\n", start))
            end = after.start() if after else len(text)
    number = re.compile(r"\s*([0-9.]+)").match(text, start)
    return number.start(1), number.end(1)


def value_of(text, path):
    start, end = place_of(text, paths_of(path)[0])
    return float(text[start:end])


def with_value(text, path, value):
    for one in paths_of(path):
        start, end = place_of(text, one)
        text = text[:start] + f"{float(f'{value:.4g}'):g}" + text[end:]
    return text


def variant_of(path):
    """What is moved in one run: a row has one network, one protocol and one generation."""
    parts = path.split(".")
    if parts[0] == "net":
        parts[1] = "x"
    if parts[-1] in PROTOCOLS + GENERATIONS:
        parts[-1] = "x"
    return ".".join(parts)


def acts_on(path, row):
    for parts in (one.split(".") for one in paths_of(path)):
        is_other_net = parts[0] == "net" and parts[1] != row["net"]
        is_other_protocol = parts[-1] in PROTOCOLS and parts[-1] != row["protocol"]
        is_other_gpu = parts[-1] in GENERATIONS and parts[-1] != row["group"].split()[0]
        if not (is_other_net or is_other_protocol or is_other_gpu):
            return True
    return False


def scores(ringside, published, folder, name, text):
    path = os.path.join(folder, name)
    if not os.path.exists(path + ".json"):
        with open(path + ".yaml", "w", encoding="utf-8") as out:
            out.write(text)
        command = [ringside, "validate", published, "--machines", os.path.join(published, "machines"), "--model",
                   path + ".yaml", "--json"]
        answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        with open(path + ".json", "w", encoding="utf-8") as out:
            out.write(answer)
    with open(path + ".json", encoding="utf-8") as answer:
        return json.load(answer)


def size_class(row):
    return 0 if row["bytes"] <= 65536 else 1 if row["bytes"] < 16 << 20 else 2


class Fit:
    def __init__(self, table, text, base, changed):
        apart = {one["system"] for one in base["systems"] if one["other_library"]}
        apart -= {one["system"] for one in base["systems"] if not one["other_library"]}
        used = [i for i, row in enumerate(base["rows"]) if row.get("simulated_us") and row["system"] not in apart]
        self.table = table
        self.rows = [base["rows"][i] for i in used]
        self.errors = [math.log(row["simulated_us"] / row["measured_us"]) for row in self.rows]
        self.now = [value_of(text, one["path"]) for one in table]
        self.slopes = [self.slopes_of(i, row, changed) for i, row in zip(used, self.rows)]
        self.systems = [{row["system"] for row, slopes in zip(self.rows, self.slopes) if abs(slopes.get(j, 0)) > 0.1}
                        for j in range(len(table))]
        self.centres = [math.log(float(one["prior"]) / now) for one, now in zip(table, self.now)]
        self.widths = [math.log(float(one["high"]) / float(one["low"])) / 2 / (1 if len(systems) >= FEW else 3)
                       for one, systems in zip(table, self.systems)]
        count = {}
        for row in self.rows:
            of = row["system"], size_class(row)
            count[of] = count.get(of, 0) + 1
        self.weights = [1 / count[row["system"], size_class(row)] for row in self.rows]

    def slopes_of(self, i, row, changed):
        found = {}
        for j, one in enumerate(self.table):
            if not acts_on(one["path"], row):
                continue
            factor, rows = changed[variant_of(one["path"])]
            slope = math.log(rows[i]["simulated_us"] / row["simulated_us"]) / math.log(factor)
            if abs(slope) > 1e-6:
                found[j] = slope
        return found

    def error(self, i, at):
        return self.errors[i] + sum(slope * at[j] for j, slope in self.slopes[i].items())

    def fitted(self, rows):
        """The constants' logarithms, from what ships: least absolute error by least squares of weights made anew."""
        at = [0.0] * len(self.table)
        for _ in range(25):
            matrix = [[0.0] * len(at) for _ in at]
            right = [0.0] * len(at)
            for j, (centre, width) in enumerate(zip(self.centres, self.widths)):
                matrix[j][j] = 1 / width ** 2
                right[j] = centre / width ** 2
            for i in rows:
                weight = self.weights[i] / SCALE / max(abs(self.error(i, at)), 0.02)
                for j, slope in self.slopes[i].items():
                    right[j] -= weight * slope * self.errors[i]
                    for k, other in self.slopes[i].items():
                        matrix[j][k] += weight * slope * other
            before, at = at, solved(matrix, right)
            if max(abs(a - b) for a, b in zip(before, at)) < 2e-3:
                break
        # No link carries more than its rate.
        return [min(one, math.log(1 / now)) if of["unit"] == "share" else one for one, now, of in zip(at, self.now, self.table)]

    def values(self, at):
        return [now * math.exp(one) for now, one in zip(self.now, at)]


def solved(matrix, right):
    """Gauss; the matrix is symmetric and positive."""
    count = len(right)
    for k in range(count):
        for i in range(k + 1, count):
            share = matrix[i][k] / matrix[k][k]
            if share:
                for j in range(k, count):
                    matrix[i][j] -= share * matrix[k][j]
                right[i] -= share * right[k]
    found = [0.0] * count
    for k in range(count - 1, -1, -1):
        found[k] = (right[k] - sum(matrix[k][j] * found[j] for j in range(k + 1, count))) / matrix[k][k]
    return found


def summary_of(rows, errors):
    """By system and size class: median error, median with its sign."""
    groups = {}
    for row, error in zip(rows, errors):
        groups.setdefault((row["system"], size_class(row)), []).append(math.exp(error) - 1)
    return {of: (statistics.median(abs(one) for one in all_of), statistics.median(all_of)) for of, all_of in groups.items()}


def medians(summary):
    return ", ".join(f"{100 * statistics.median([one[0] for of, one in summary.items() if of[1] == number] or [0]):.1f}"
                     for number in range(3))


def print_errors(rows, errors):
    """What the model's `error` says: by what joins GPUs on one node, by what joins hosts on several."""
    def line(name, is_there):
        kept = [(row, error) for row, error in zip(rows, errors) if is_there(row["group"].split())]
        summary = summary_of([one[0] for one in kept], [one[1] for one in kept])
        of = [[one[0] for at, one in summary.items() if at[1] == number] for number in range(3)]
        percent = [f"{100 * statistics.median(one):.0f}" if one else "-" for one in of]
        print(f"{name}: {{percent: [{', '.join(percent)}], systems: [{', '.join(str(len(one)) for one in of)}]}}")
    line("one_node", lambda words: len(words) == 2)
    for link in ("nvswitch", "nvlink", "pcie", "c2c"):
        line("  " + link, lambda words, link=link: len(words) == 2 and words[1] == link)
    line("several", lambda words: len(words) == 3)
    for net in ("ib", "roce", "efa", "tcp", "fastrak", "slingshot", "tcpx"):
        line("  " + net, lambda words, net=net: len(words) == 3 and words[2] == net)


def main():
    ringside, published, folder = sys.argv[1:4]
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(MODELS, "measured.yaml"), encoding="utf-8") as file:
        text = file.read()
    with open(os.path.join(MODELS, "constants.csv"), encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    tried = {}
    for one in table:
        factor = LESS if one["unit"] == "share" else MORE
        before = tried.setdefault(variant_of(one["path"]), (factor, text))[1]
        tried[variant_of(one["path"])] = factor, with_value(before, one["path"], value_of(text, one["path"]) * factor)
    changed = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        base = pool.submit(scores, ringside, published, folder, "base", text)
        runs = {name: pool.submit(scores, ringside, published, folder, name, model) for name, (_, model) in tried.items()}
        for name, run in runs.items():
            changed[name] = tried[name][0], run.result()["rows"]
            print(f"{len(changed)} of {len(runs)}: {name}", file=sys.stderr)
    fit = Fit(table, text, base.result(), changed)
    everything = range(len(fit.rows))
    of_all = fit.fitted(everything)
    predicted = [0.0] * len(fit.rows)
    left_out = []
    for group in sorted({row["group"] for row in fit.rows}):
        at = fit.fitted([i for i in everything if fit.rows[i]["group"] != group])
        left_out.append(fit.values(at))
        for i in everything:
            if fit.rows[i]["group"] == group:
                predicted[i] = fit.error(i, at)
    nccl = [row for row in fit.rows if row.get("nccl_us")]
    print(f"{len(fit.rows)} rows, {len(table)} constants, {len(left_out)} groups; medians over systems in %, by size class")
    for name, errors in (("as shipped", fit.errors), ("at the priors", [fit.error(i, fit.centres) for i in everything]),
                         ("fitted to all", [fit.error(i, of_all) for i in everything]),
                         ("predicted without their group", predicted)):
        print(f"{name}: {medians(summary_of(fit.rows, errors))}")
    print(f"NCCL's own model: {medians(summary_of(nccl, [math.log(row['nccl_us'] / row['measured_us']) for row in nccl]))}\n")
    print_errors(fit.rows, predicted)
    print("\n| system |" + "".join(f" {one}: median | bias |" for one in CLASSES) + "\n|---|" + "---|---|" * 3)
    summary = summary_of(fit.rows, predicted)
    for system in sorted({row["system"] for row in fit.rows}):
        cells = [f"{100 * summary[system, of][0]:.1f} | {100 * summary[system, of][1]:+.1f}"
                 if (system, of) in summary else "- | -" for of in range(3)]
        print(f"| {system} | {' | '.join(cells)} |")
    if "--write" not in sys.argv:
        return
    for j, (one, value) in enumerate(zip(table, fit.values(of_all))):
        text = with_value(text, one["path"], value)
        others = [values[j] for values in left_out]
        one.update(value=f"{value:.4g}", systems=" ".join(sorted(fit.systems[j])),
                   left_out_low=f"{min(others):.4g}", left_out_high=f"{max(others):.4g}")
    with open(os.path.join(MODELS, "measured.yaml"), "w", encoding="utf-8") as file:
        file.write(text)
    with open(os.path.join(MODELS, "constants.csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)


if __name__ == "__main__":
    main()
