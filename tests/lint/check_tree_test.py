#!/usr/bin/env python3
"""check_tree.py over small trees, each with one thing wrong: a check that cannot fail is none."""

import os
import subprocess
import sys
import tempfile
import unittest

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_tree.py")

# A tree that passes; each test changes one file of it.
CLEAN = {
    "base/README.md": "units\n",
    "base/units.h": "#pragma once\n\n#include <cstdint>\n",
    "trace/README.md": "events\n",
    "trace/event.h": '// What happened.\n#pragma once\n\n#include "base/units.h"\n',
    "engine/runtime/README.md": "who does it\n",
    "engine/runtime/communicator.h": '#pragma once\n#include "trace/event.h"\n',
    "sim/README.md": "SimGrid\n",
    "sim/CMakeLists.txt": "ringside_add_library(\n  sim\n  SOURCES run.cpp\n  HEADERS run.h\n"
                          "  PUBLIC ringside::base)\n",
    "sim/run.h": "#pragma once\n",
    "sim/host.h": "#pragma once\n#include <simgrid/s4u.hpp>\n",
    "sim/run.cpp": '#include "sim/run.h"\n\n#include <simgrid/s4u.hpp>\n',
    "tests/base/units_test.cpp": '#include <gtest/gtest.h>\n\n#include "base/units.h"\n',
}


def findings(files):
    """What the check prints for the clean tree with `files` {path: text, or None to leave it out}."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**CLEAN, **files}.items():
            if text is None:
                continue
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        run = subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True)
        lines = run.stdout.splitlines()
        assert run.returncode == (1 if lines else 0), run
        return lines


class CheckTree(unittest.TestCase):
    def assert_one(self, files, where, what):
        lines = findings(files)
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith(where + ": "), lines)
        self.assertIn(what, lines[0])

    def test_a_clean_tree_passes(self):
        self.assertEqual(findings({}), [])

    def test_an_include_that_points_up_is_found(self):
        self.assert_one({"base/units.h": '#pragma once\n#include "trace/event.h"\n'},
                        "base/units.h:2", "base may not include")

    def test_an_include_that_points_sideways_is_found(self):
        self.assert_one({"engine/topology/README.md": "gpus\n",
                         "engine/topology/system.h": '#pragma once\n#include "engine/tuning/choice.h"\n'},
                        "engine/topology/system.h:2", "engine/topology may not include")

    def test_a_folder_outside_the_table_is_found(self):
        self.assert_one({"util/README.md": "odds\n", "util/a.cpp": '#include "base/units.h"\n'},
                        "util/a.cpp:1", "no line in tests/lint/arrows.txt")

    def test_an_include_that_is_not_from_the_root_is_found(self):
        self.assert_one({"sim/run.cpp": '#include "run.h"\n'}, "sim/run.cpp:1", "from the root")

    def test_a_generated_header_of_the_folder_itself_is_fine(self):
        self.assertEqual(findings({"trace/a.cpp": '#include "event_generated.h"\n'}), [])

    def test_simgrid_outside_sim_is_found(self):
        self.assert_one({"engine/runtime/communicator.h": "#pragma once\n#include <simgrid/s4u.hpp>\n"},
                        "engine/runtime/communicator.h:2", "belongs to sim/")

    def test_simgrid_in_an_installed_header_is_found(self):
        self.assert_one({"sim/run.h": "#pragma once\n#include <simgrid/s4u.hpp>\n"},
                        "sim/run.h:2", "installed header")

    def test_a_header_without_pragma_once_is_found(self):
        self.assert_one({"base/units.h": "#include <cstdint>\n"}, "base/units.h:1", "#pragma once")

    def test_an_empty_header_is_found(self):
        self.assert_one({"base/units.h": ""}, "base/units.h:1", "#pragma once")

    def test_a_folder_without_readme_is_found(self):
        self.assert_one({"trace/README.md": None}, "trace:1", "README.md")

    def test_unfinished_work_is_found(self):
        self.assert_one({"sim/README.md": "SimGrid\n\nTO" "DO: more\n"}, "sim/README.md:3", "unfinished")

    def test_a_header_of_201_lines_is_found_and_of_200_is_not(self):
        self.assertEqual(findings({"base/units.h": "#pragma once\n" * 200}), [])
        self.assert_one({"base/units.h": "#pragma once\n" * 201}, "base/units.h:201", "201 lines")

    def test_a_source_of_601_lines_is_found_and_of_600_is_not(self):
        self.assertEqual(findings({"base/a.cpp": "\n" * 600}), [])
        self.assert_one({"base/a.cpp": "\n" * 601}, "base/a.cpp:601", "601 lines")


if __name__ == "__main__":
    unittest.main()
