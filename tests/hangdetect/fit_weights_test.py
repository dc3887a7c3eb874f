"""The fit: usage: fit_weights_test.py (no arguments)."""

import os
import tempfile
import unittest

import fit_weights

TABLE = "// a table\nWEIGHT(Shown, 0.50)   // reason\nWEIGHT(Doubt, -0.50)  // reason\n"


def case(name, *hypotheses):
    return "".join(f"set/{name}\t{right}\tkind\t{ranks}\t{features}\n" for right, ranks, features in hypotheses)


class FitTest(unittest.TestCase):
    def run_on(self, cases, table_text=TABLE):
        """The table after a fit to the cases, and the status."""
        with tempfile.TemporaryDirectory() as folder:
            table, lines = os.path.join(folder, "weights.def"), os.path.join(folder, "cases.tsv")
            with open(table, "w", encoding="utf-8") as file:
                file.write(table_text)
            with open(lines, "w", encoding="utf-8") as file:
                file.write(cases)
            status = fit_weights.main(["fit_weights.py", lines, table, "--write"])
            with open(table, encoding="utf-8") as file:
                return file.read(), status

    def test_a_feature_of_wrong_hypotheses_loses_weight_and_comments_stay(self):
        text, status = self.run_on(
            "".join(case(f"c{i}", (1, "", "Shown"), (0, "3", "Doubt")) for i in range(200)))
        weights = dict(fit_weights.ROW.findall(line)[0] for line in text.split("\n") if line.startswith("WEIGHT"))
        self.assertEqual(status, 0)
        self.assertGreater(float(weights["Shown"]), 0.5)
        self.assertLess(float(weights["Doubt"]), -0.5)
        self.assertIn("// reason", text)

    def test_weights_that_make_the_gate_worse_are_not_written(self):
        names = [f"c{i}" for i in range(200)]
        trained = [one for one in names if fit_weights.is_trained_on("set/" + one)]
        cases = "".join(
            case(one, (1 if one not in trained else 0, "1", "Shown"), (1 if one in trained else 0, "2", "Doubt"))
            for one in names)
        text, status = self.run_on(cases, TABLE.replace("-0.50", "0.30"))
        self.assertEqual(status, 1)
        self.assertIn("WEIGHT(Doubt, 0.30)", text)


if __name__ == "__main__":
    unittest.main()
