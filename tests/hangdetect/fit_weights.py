#!/usr/bin/env python3
"""Fits diag/hangdetect/verdict/weights.def to labelled cases.

usage: ringside_hang_hypotheses torch harmed generated lost FOLDER... > hypotheses.tsv
       fit_weights.py hypotheses.tsv WEIGHTS.def [--write]

The confidence of a hypothesis is logistic(sum of the weights of its features). The fit minimises, over one half of the
cases (chosen by the hash of their names), the logistic loss of every hypothesis and the loss of choosing a wrong one, with a
pull towards the weights in the file, which a person chose. The other half is the gate: weights are written only if no
fewer of its cases are right, and no more of its ranks are named wrongly at 0.5 or more.
"""

import collections
import hashlib
import math
import re
import sys

ROW = re.compile(r"^WEIGHT\((\w+), (-?[\d.]+)\)")
STEPS, RATE = 400, 0.05
PULL = 1.0  # of a weight towards the file's, in losses of a case
# Rules were written while looking at these texts, so that they say little of how sure a rule is on others.
KNOWN_TEXTS = {"invented": 0.2, "hang-pastes": 0.5}
CHOICE = 4.0  # how much worse a wrong choice is than a confidence that is off
LEAST = 0.05  # of a weight, without its sign
WRONG_NAME = 3.0  # how much worse it is to name a wrong rank than to be unsure


def read_cases(path):
    """{case: [(is_right, names_ranks, features)]}, in the order of the file."""
    cases = collections.OrderedDict()
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            name, right, _, culprits, features = line.rstrip("\n").split("\t")
            cases.setdefault(name, []).append((right == "1", culprits != "", features.split(",")))
    return cases


def is_trained_on(name):
    # All harmed variants of a case are on one side.
    case = name.split("/")[1]
    return hashlib.sha256(case.encode()).digest()[0] % 2 == 0


def logistic(x):
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, x))))


def score(weights, features):
    return sum(weights[one] for one in features)


def figures(weights, cases):
    """How many cases are right, and how many name a wrong rank at 0.5 or more, by set."""
    by_set = collections.defaultdict(lambda: [0, 0, 0])
    for name, hypotheses in cases.items():
        best = max(hypotheses, key=lambda one: round(logistic(score(weights, one[2])), 3))
        tally = by_set[name.split("/")[0]]
        tally[0] += 1
        tally[1] += best[0]
        tally[2] += best[1] and not best[0] and logistic(score(weights, best[2])) >= 0.5
    return by_set


def fit(first, cases):
    weights = dict(first)
    sets = collections.Counter(name.split("/")[0] for name in cases)
    squares = dict.fromkeys(weights, 1e-8)
    for _ in range(STEPS):
        slopes = dict.fromkeys(weights, 0.0)
        for name, hypotheses in cases.items():
            # Large sets count more, and not by their size.
            own_set = name.split("/")[0]
            share = KNOWN_TEXTS.get(own_set, 1) / math.sqrt(sets[own_set])
            scores = [score(weights, one[2]) for one in hypotheses]
            for (right, names, features), x in zip(hypotheses, scores):
                slope = (logistic(x) - right) * (WRONG_NAME if names and not right else 1)
                for one in features:
                    slopes[one] += share * slope / len(hypotheses)
            if not any(one[0] for one in hypotheses):
                continue
            # The choice: softmax over the hypotheses, of which the right ones should have all.
            top = max(scores)
            odds = [math.exp(6 * (x - top)) for x in scores]
            right_odds = sum(o for o, one in zip(odds, hypotheses) if one[0])
            for o, (right, _, features) in zip(odds, hypotheses):
                slope = o / sum(odds) - (o / right_odds if right else 0)
                for one in features:
                    slopes[one] += share * CHOICE * slope
        for one in weights:
            slope = slopes[one] + PULL * (weights[one] - first[one])
            squares[one] = 0.95 * squares[one] + 0.05 * slope * slope
            weights[one] -= RATE * slope / math.sqrt(squares[one] + 1e-6)
            # What speaks against a hypothesis never speaks for it, and evidence of one side only stays below 0.5.
            if first[one] != 0:
                sign = math.copysign(1, first[one])
                weights[one] = sign * max(LEAST, sign * weights[one])
    return {one: round(value, 2) for one, value in weights.items()}


def main(arguments):
    if len(arguments) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    cases = read_cases(arguments[1])
    with open(arguments[2], encoding="utf-8") as file:
        text = file.read()
    first = {name: float(value) for name, value in re.findall(ROW.pattern, text, re.M)}
    train = {name: one for name, one in cases.items() if is_trained_on(name)}
    gate = {name: one for name, one in cases.items() if not is_trained_on(name)}
    fitted = fit(first, train)
    worse = 0
    for title, part in (("fitted on", train), ("gate", gate)):
        before, after = figures(first, part), figures(fitted, part)
        for one in sorted(before):
            print(f"{title:10} {one:14} {before[one][0]:5} cases  right {before[one][1]:5} -> {after[one][1]:5}"
                  f"  wrongly named {before[one][2]:3} -> {after[one][2]:3}")
            if part is gate:
                worse += max(0, before[one][1] - after[one][1]) + max(0, after[one][2] - before[one][2])
    for one in sorted(first, key=lambda name: -abs(fitted[name] - first[name]))[:25]:
        print(f"  {one:20} {first[one]:6.2f} -> {fitted[one]:6.2f}")
    if worse > 0:
        print("the gate is worse: nothing is written")
        return 1
    if "--write" in arguments:
        lines = [ROW.sub(lambda row: f"WEIGHT({row[1]}, {fitted[row[1]]:.2f})", line) for line in text.split("\n")]
        with open(arguments[2], "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
