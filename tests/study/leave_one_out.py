#!/usr/bin/env python3
"""How well the simulator foretells a system that its constants have not seen (docs/lab/accuracy.md, second table).

    leave_one_out.py RINGSIDE PUBLISHED WORK_FOLDER [FITTED.yaml]

Scores PUBLISHED with the constants that ship, and once more for each constant moved a little; what is kept in WORK_FOLDER
is not run again. Over those answers, made linear in the logarithms, the constants are fitted without one system, and that
system's rows foretold: least absolute error, each system's size class of one weight, a normal prior of each logarithm whose
centre is NCCL's or physics', never what ships. Prints a table in Markdown; FITTED.yaml gets the constants as fitted to all
systems, from which the next fit may start. Takes 28 runs of `ringside validate`.
"""

import json
import math
import os
import re
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

MODEL = os.path.join(os.path.dirname(__file__), "..", "..", "sim", "models", "measured.yaml")
MORE, LESS = 1.08, 0.94  # a share cannot be moved up: it ends at 1
SCALE = 0.06  # of an error's logarithm, beside which a prior's width of 1 counts
PROTOCOLS = 3  # LL, LL128, Simple

# Systems whose figures say more about something else (docs/lab/accuracy.md) count a seventh; of the last one small sizes alone.
DOUBTFUL = {"coreweave-a100-4n32g-ib": 3, "gcp-a3ultra-h200-2n2g-roce": 3, "h100-k8s-2n16g-4nic": 3,
            "yandex-a100-2n16g": 3, "oci-gb200-2rack-128g": 3, "aws-p5en-h200-1n8g": 2}

# How messages travel between hosts, by a word in the system's name; RoCE takes InfiniBand's constants.
NETWORKS = (("aws", "efa"), ("a3mega", "fastrak"), ("a3high", "tcpx"), ("alps", "slingshot"), ("isambard", "slingshot"))
STAGED = ("efa", "fastrak", "tcpx")  # software on the way: four times the latency, longer ramps

# Sections with constants of the same names: what is moved, by how much, (centre of the prior by protocol, its width).
# Centres: latencies are NCCL 2.30.7's (graph/tuning.cc); shares leave headers and credits out.
STEPS = {"nvlink": (0.6, 1.9, 3.4), "pci": (1.0, 1.9, 4.0), "net": (5.0, 8.5, 14.0)}
SHARES = {"nvlink": (0.9, 0.93, 0.97), "pci": (0.85, 0.85, 0.93), "net": (0.45, 0.7, 0.93)}
KERNEL = (5.0, 8.0, 8.0)
# Single ones: section, key, words that are moved with it, centre, width.
SINGLES = (("nvlink", "tree", 0.85, 0.15), ("nvlink", "exchange", 0.9, 0.15), ("nvlink", "blackwell", 0.85, 0.2),
           ("pci", "host_bridge", 0.8, 0.2), ("nvswitch", "hosts_step", 20, 0.6), ("nvswitch", "across", 0.9, 0.15),
           ("launch", "least_per_gpu", 5.8, 0.3))
NVSWITCH = {"step": (10, 0.5), "share": (0.8, 0.2)}


def section(text, name):
    """Start and end of a section's lines."""
    start = re.search(rf"^{name}:", text, re.M).start()
    line_end = text.index("\n", start)
    end = re.search(r"^(?=[a-z#])", text[line_end:], re.M)
    return start, line_end + end.start() if end else len(text)


def moved(text, name, pattern, factor, only=None):
    """The text with the numbers that the pattern's group holds in that section times the factor."""
    start, end = section(text, name)

    def scaled(match):
        numbers = [float(one) for one in match.group(2).split(",")]
        numbers = [one * factor if only in (None, i) else one for i, one in enumerate(numbers)]
        return match.group(1) + ", ".join(f"{one:.6g}" for one in numbers)

    changed = re.sub(pattern, scaled, text[start:end])
    assert changed != text[start:end], (name, pattern)
    return text[:start] + changed + text[end:]


def variants(text):
    """By name: (factor, model's text)."""
    found = {}
    for p in range(PROTOCOLS):
        found[f"kernel{p}"] = MORE, moved(text, "kernel", r"(\[)([^\]]*)", MORE, p)
    for name in STEPS:
        found[name + ".step"] = MORE, moved(text, name, r"(step: \[)([^\]]*)", MORE)
        found[name + ".share"] = LESS, moved(text, name, r"(share: \[)([^\]]*)", LESS)
        found[name + ".most"] = MORE, moved(text, name, r"(most: )([0-9.]+)", MORE)
        found[name + ".over"] = MORE, moved(text, name, r"(over: )([0-9.]+)", MORE)
    for name, key, _, _ in SINGLES:
        factor = MORE if key in ("hosts_step", "least_per_gpu") else LESS
        found[f"{name}.{key}"] = factor, moved(text, name, rf"(\b{key}: )([0-9.]*[1-9][0-9.]*)", factor)
    for key in NVSWITCH:
        factor = MORE if key == "step" else LESS
        start, _ = section(text, "nvswitch")
        line = re.search(rf"  {key}: .*", text[start:]).group(0)
        changed = re.sub(r"((?:hopper|blackwell): )([0-9.]+)", lambda m: m.group(1) + f"{float(m.group(2)) * factor:.6g}", line)
        found["nvswitch." + key] = factor, text.replace(line, changed)
    return found


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


def number(text, of, pattern, factor, index=None):
    """The text with the number that the pattern finds in that section, or the one at that place of its list, times the factor."""
    start, end = section(text, of)
    match = re.search(pattern, text[start:end], re.S)
    numbers = [float(one) for one in match.group(1).split(",")]
    at = index or 0
    numbers[at] = numbers[at] * factor
    if "share" in pattern:
        numbers[at] = min(numbers[at], 0.99)  # headers and credits take their part
    first = start + match.start(1)
    return text[:first] + ", ".join(f"{float(f'{one:.3g}'):g}" for one in numbers) + text[start + match.end(1):]


def written(text, name, factor):
    """The text with the constant called so times the factor."""
    if name.startswith("kernel"):
        return number(text, "kernel", r"\[([^\]]*)", factor, int(name[-1]))
    parts = name.split(".")
    if parts[0] == "nvswitch" and len(parts) == 3:
        return number(text, "nvswitch", rf"  {parts[1]}: [^\n]*{parts[2]}: ([0-9.]+)", factor)
    listed = re.fullmatch(r"(step|share)([0-2])", parts[-1])
    # No system of RoCE is sound enough to tell it from InfiniBand.
    kinds = (["ib", "roce"] if parts[1] == "ib" else [parts[1]]) if parts[0] == "net" else [""]
    for kind in kinds:
        into = rf"  {kind}:.*?" if kind else ""
        if listed:
            text = number(text, parts[0], into + rf"{listed[1]}: \[([^\]]*)", factor, int(listed[2]))
        else:
            text = number(text, parts[0], into + rf"\b{parts[-1]}: ([0-9.]*[1-9][0-9.]*)", factor)
    return text


class Fit:
    def __init__(self, text, base, changed):
        left_out = {one["system"] for one in base["systems"] if one["other_library"]}
        left_out -= {one["system"] for one in base["systems"] if not one["other_library"]}
        self.text, self.rows, self.changed = text, base["rows"], changed
        self.numbers, self.priors, self.slopes = {}, [], []
        self.used = [i for i, row in enumerate(self.rows)
                     if row["system"] not in left_out and row.get("simulated_us")]
        self.errors = {i: math.log(self.rows[i]["simulated_us"] / self.rows[i]["measured_us"]) for i in self.used}
        for i in range(len(self.rows)):
            self.slopes.append(self.slopes_of(i))
        count = {}
        for i in self.used:
            of = self.rows[i]["system"], size_class(self.rows[i])
            count[of] = count.get(of, 0) + 1
        self.weights = {}
        for i in self.used:
            system, of = self.rows[i]["system"], size_class(self.rows[i])
            doubt = 7 if of < DOUBTFUL.get(system, 0) else 1
            self.weights[i] = 1 / count[system, of] / doubt

    def slope(self, name, i):
        factor, rows = self.changed[name]
        before, after = self.rows[i].get("simulated_us"), rows[i].get("simulated_us")
        return math.log(after / before) / math.log(factor) if before and after else 0.0

    def shipped(self, name, pattern):
        start, end = section(self.text, name)
        return [float(one) for one in re.search(pattern, self.text[start:end], re.S).group(1).split(",")]

    def constant(self, name, shipped, centre, width):
        if name not in self.numbers:
            self.numbers[name] = len(self.priors)
            self.priors.append((math.log(centre / shipped), width))
        return self.numbers[name]

    def slopes_of(self, i):
        system = self.rows[i]["system"]
        net = next((kind for word, kind in NETWORKS if word in system), "ib")
        kernels = [abs(self.slope(f"kernel{p}", i)) for p in range(PROTOCOLS)]
        protocol = kernels.index(max(kernels)) if max(kernels) > 1e-6 else 2
        found = {}

        def add(name, variant, shipped, centre, width):
            slope = self.slope(variant, i)
            if abs(slope) > 1e-7:
                number = self.constant(name, shipped, centre, width)
                found[number] = found.get(number, 0) + slope

        add(f"kernel{protocol}", f"kernel{protocol}", self.shipped("kernel", r"\[([^\]]*)")[protocol],
            KERNEL[protocol], 0.5)
        for name in STEPS:
            of, into = (f"net.{net}", rf"  {net}:.*?") if name == "net" else (name, "")
            staged = name == "net" and net in STAGED
            add(f"{of}.step{protocol}", name + ".step", self.shipped(name, into + r"step: \[([^\]]*)")[protocol],
                STEPS[name][protocol] * (4 if staged else 1), 0.6)
            add(f"{of}.share{protocol}", name + ".share", self.shipped(name, into + r"share: \[([^\]]*)")[protocol],
                SHARES[name][protocol], 0.12 if protocol == 2 else 0.3)
            add(of + ".most", name + ".most", self.shipped(name, into + r"most: ([0-9.]+)")[0], 300 if staged else 50, 0.6)
            add(of + ".over", name + ".over", self.shipped(name, into + r"over: ([0-9.]+)")[0], 180 if staged else 100, 0.5)
        for name, key, centre, width in SINGLES:
            pattern = rf"\b{key}: ([0-9.]*[1-9][0-9.]*)"
            add(f"{name}.{key}", f"{name}.{key}", self.shipped(name, pattern)[0], centre, width)
        generation = "blackwell" if "b200" in system else "hopper"
        for key, (centre, width) in NVSWITCH.items():
            pattern = rf"  {key}: [^\n]*{generation}: ([0-9.]+)"
            add(f"nvswitch.{key}.{generation}", "nvswitch." + key, self.shipped("nvswitch", pattern)[0], centre, width)
        return found

    def fitted(self, rows, start=None):
        """The constants' logarithms, from what ships: least absolute error by least squares of weights made anew."""
        at = start or [0.0] * len(self.priors)
        for _ in range(25):
            matrix = [[0.0] * len(at) for _ in at]
            right = [0.0] * len(at)
            for j, (centre, width) in enumerate(self.priors):
                matrix[j][j] += 1 / width ** 2
                right[j] += centre / width ** 2
            for i in rows:
                slopes = self.slopes[i]
                weight = self.weights[i] / SCALE / max(abs(self.error(i, at)), 1e-3)
                for j, slope in slopes.items():
                    right[j] -= weight * slope * self.errors[i]
                    for k, other in slopes.items():
                        matrix[j][k] += weight * slope * other
            before, at = at, solved(matrix, right)
            if max(abs(a - b) for a, b in zip(before, at)) < 1e-3:
                break
        return at

    def error(self, i, at):
        return self.errors[i] + sum(slope * at[j] for j, slope in self.slopes[i].items())

    def summary(self, errors):
        """By system and size class: median, 90th percentile, bias."""
        groups = {}
        for i, error in errors.items():
            groups.setdefault((self.rows[i]["system"], size_class(self.rows[i])), []).append(math.exp(error) - 1)
        found = {}
        for of, all_of in groups.items():
            sizes = sorted(abs(one) for one in all_of)
            found[of] = (statistics.median(sizes), sizes[math.ceil(0.9 * len(sizes)) - 1], statistics.median(all_of))
        return found


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


def medians(summary, what):
    return ", ".join(f"{100 * statistics.median(one[what] for of, one in summary.items() if of[1] == number):.1f}"
                     for number in range(3))


def main():
    ringside, published, folder = sys.argv[1:4]
    os.makedirs(folder, exist_ok=True)
    with open(MODEL, encoding="utf-8") as file:
        text = file.read()
    base = scores(ringside, published, folder, "base", text)
    changed = {}
    tried = variants(text)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = {name: pool.submit(scores, ringside, published, folder, name, model) for name, (_, model) in tried.items()}
        for name, run in runs.items():
            changed[name] = tried[name][0], run.result()["rows"]
            print(f"{len(changed)} {name}", file=sys.stderr)
    fit = Fit(text, base, changed)
    all_at = fit.fitted(fit.used)
    if len(sys.argv) > 4:
        for name, place in fit.numbers.items():
            text = written(text, name, math.exp(all_at[place]))
        with open(sys.argv[4], "w", encoding="utf-8") as out:
            out.write(text)
    systems = sorted({fit.rows[i]["system"] for i in fit.used})
    foretold = {}
    for system in systems:
        at = fit.fitted([i for i in fit.used if fit.rows[i]["system"] != system], all_at)
        foretold.update({i: fit.error(i, at) for i in fit.used if fit.rows[i]["system"] == system})
    print(f"{len(fit.used)} rows, {len(fit.priors)} constants, {len(systems)} systems; up to 64 KiB, below 16 MiB, from there on")
    for name, errors in (("as shipped", fit.errors), ("fitted to all", {i: fit.error(i, all_at) for i in fit.used}),
                         ("foretold by the others", foretold)):
        summary = fit.summary(errors)
        print(f"{name}: medians {medians(summary, 0)} %, of 90th percentiles {medians(summary, 1)} %")
    print("\n| system | <= 64 KiB: median | bias | 64 KiB .. 16 MiB: median | bias | >= 16 MiB: median | bias |\n"
          "|---|---|---|---|---|---|---|")
    summary = fit.summary(foretold)
    for system in systems:
        cells = [f"{100 * summary[system, of][0]:.1f} | {100 * summary[system, of][2]:+.1f}"
                 if (system, of) in summary else "- | -" for of in range(3)]
        print(f"| {system} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
