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
    "sim/simgrid/README.md": "SimGrid\n",
    "sim/simgrid/CMakeLists.txt": "ringside_add_library(\n  sim\n  SOURCES run.cpp\n  HEADERS run.h\n"
                          "  PUBLIC ringside::base)\n",
    "sim/simgrid/run.h": "#pragma once\n",
    "sim/simgrid/host.h": "#pragma once\n#include <simgrid/s4u.hpp>\n",
    "sim/simgrid/run.cpp": '#include "sim/simgrid/run.h"\n\n#include <simgrid/s4u.hpp>\n',
    "tests/base/CMakeLists.txt": "ringside_add_test(base unit units_test.cpp LINK ringside::base)\n",
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

    def test_a_page_that_draws_other_arrows_is_found(self):
        with open(os.path.join(os.path.dirname(CHECK), "../../docs/architecture.md"), encoding="utf-8") as file:
            page = file.read()
        path = "docs/architecture.md"
        number, row = next((n, line) for n, line in enumerate(page.splitlines(), 1) if line.startswith("| `engine/tuning/` |"))
        self.assertEqual(findings({path: page}), [])
        self.assert_one({path: page.replace(row, row.replace(", `topology`", ""))},
                        f"{path}:{number}", "lets engine/tuning include")
        self.assert_one({path: page.replace(row + "\n", "")}, path + ":1", "no row for engine/tuning")

    def test_an_include_that_points_sideways_is_found(self):
        self.assert_one({"engine/topology/README.md": "gpus\n",
                         "engine/topology/system.h": '#pragma once\n#include "engine/tuning/choice.h"\n'},
                        "engine/topology/system.h:2", "engine/topology may not include")

    def test_a_test_that_nothing_builds_is_found(self):
        self.assert_one({"tests/base/text_test.cpp": ""}, "tests/base/text_test.cpp:1", "never run")
        self.assert_one({"tests/base/CMakeLists.txt": "ringside_add_test(base unit small_units_test.cpp)\n"},
                        "tests/base/units_test.cpp:1", "never run")
        self.assert_one({"tests/base/CMakeLists.txt": "# units_test.cpp\n"}, "tests/base/units_test.cpp:1", "never run")

    def test_a_path_that_two_tests_share_is_found(self):
        start = CLEAN["tests/base/units_test.cpp"] + "\nconst auto path = testing::TempDir() + "
        self.assert_one({"tests/base/units_test.cpp": start + '"units";\n'}, "tests/base/units_test.cpp:5", "two tests at once")
        self.assertEqual(findings({"tests/base/units_test.cpp":
                                   start + '"units" +\n    std::to_string(::getpid());\n'}), [])

    def test_calls_that_throw_or_make_up_names_are_found(self):
        body = '#include "base/units.h"\n  for (const auto& one : fs::recursive_directory_iterator(path, failed)) {\n'
        self.assert_one({"trace/a.cpp": body}, "trace/a.cpp:2", "base/folder.h")
        self.assert_one({"trace/a.cpp": '#include "base/units.h"\nauto path = std::filesystem::temp_directory_path() / name;\n'},
                        "trace/a.cpp:2", "base/temporary.h")
        self.assert_one({"base/a.cpp": 'auto draft = fmt::format("{}.{}.part", path, ::getpid());\n'},
                        "base/a.cpp:1", "base/temporary.h")
        self.assertEqual(findings({"base/temporary.cpp": "::mkdtemp(path);\n"}), [])

    def test_two_classes_of_one_name_in_one_namespace_are_found(self):
        body = "#pragma once\nnamespace ringside {\nclass Folder final : public Base {\n};\n}  // namespace ringside\n"
        self.assert_one({"base/folder.h": body, "trace/folder.h": body.replace("final : public Base ", "")},
                        "trace/folder.h:3", "ringside::Folder is another class in base/folder.h")
        self.assertEqual(findings({"base/folder.h": body, "trace/folder.h": body.replace("ringside", "ringside::trace")}), [])
        hidden = body.replace("class", "namespace {\nclass").replace("};", "};\n}  // namespace")
        self.assertEqual(findings({"base/folder.h": body, "trace/folder.h": hidden}), [])

    def test_a_folder_that_is_built_only_where_it_exists_is_found(self):
        self.assert_one({"tests/CMakeLists.txt": "if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/base/CMakeLists.txt)\n"},
                        "tests/CMakeLists.txt:1", "do not search")

    def test_a_folder_outside_the_table_is_found(self):
        self.assert_one({"util/README.md": "odds\n", "util/a.cpp": '#include "base/units.h"\n'},
                        "util/a.cpp:1", "no line in tests/lint/arrows.txt")

    def test_an_include_that_is_not_from_the_root_is_found(self):
        self.assert_one({"sim/simgrid/run.cpp": '#include "run.h"\n'}, "sim/simgrid/run.cpp:1", "from the root")

    def test_a_generated_header_of_the_folder_itself_is_fine(self):
        self.assertEqual(findings({"trace/a.cpp": '#include "event_generated.h"\n'}), [])

    def test_simgrid_outside_sim_is_found(self):
        self.assert_one({"engine/runtime/communicator.h": "#pragma once\n#include <simgrid/s4u.hpp>\n"},
                        "engine/runtime/communicator.h:2", "belongs to sim/simgrid/")

    def test_a_private_header_in_a_public_one_is_found(self):
        public = "#pragma once\n#include <ringside/error.h>\n#include <cstdint>\n#include <stddef.h>\n"
        self.assertEqual(findings({"include/ringside/README.md": "", "include/ringside/units.h": public,
                                   "trace/event.h": '#pragma once\n#include "base/units.h"\n'}), [])
        for wrong in ('"base/units.h"', '"ringside/error.h"', "<base/units.h>", "<fmt/format.h>", "<unistd.h>"):
            self.assert_one({"include/ringside/README.md": "", "include/ringside/units.h": f"{public}#include {wrong}\n"},
                            "include/ringside/units.h:5", "a public header may not include")

    def test_simgrid_in_a_listed_header_is_found(self):
        self.assert_one({"sim/simgrid/run.h": "#pragma once\n#include <simgrid/s4u.hpp>\n"},
                        "sim/simgrid/run.h:2", "may not be in a header")

    def test_a_heavy_library_in_a_header_is_found(self):
        heavy = "#include <nlohmann/json.hpp>\n"
        self.assertEqual(findings({"trace/a.cpp": heavy}), [])
        self.assert_one({"trace/a.h": "#pragma once\n" + heavy}, "trace/a.h:2", "may not be in a header")

    def test_a_heavy_library_outside_its_files_is_found(self):
        heavy = {"cli/README.md": "verbs\n", "cli/options.cpp": "#include <CLI/CLI.hpp>\n"}
        self.assertEqual(findings(heavy), [])
        self.assert_one({**heavy, "cli/sim_verb.cpp": heavy["cli/options.cpp"]},
                        "cli/sim_verb.cpp:1", "belongs to cli/options.cpp")

    def test_a_header_without_pragma_once_is_found(self):
        self.assert_one({"base/units.h": "#include <cstdint>\n"}, "base/units.h:1", "#pragma once")

    def test_an_empty_header_is_found(self):
        self.assert_one({"base/units.h": ""}, "base/units.h:1", "#pragma once")

    def test_a_folder_without_readme_is_found(self):
        self.assert_one({"trace/README.md": None}, "trace:1", "README.md")

    def test_a_room_of_a_target_needs_no_readme(self):
        target = {"base/CMakeLists.txt": "ringside_add_library(\n  base\n  SOURCES text/a.cpp\n  HEADERS text/a.h)\n"}
        self.assertEqual(findings({**target, "base/text/a.h": "#pragma once\n", "base/text/a.cpp": "\n"}), [])

    def test_rooms_that_include_each_other_are_found(self):
        rooms = {"base/CMakeLists.txt": "ringside_add_library(\n  base\n  SOURCES text/a.cpp\n  HEADERS text/a.h file/b.h)\n",
                 "base/text/a.h": "#pragma once\n", "base/file/b.h": '#pragma once\n#include "base/text/a.h"\n'}
        self.assertEqual(findings({**rooms, "base/text/a.cpp": '#include "base/text/a.h"\n'}), [])
        self.assert_one({**rooms, "base/text/a.cpp": '#include "base/file/b.h"\n'}, "base/file:1", "base/file, base/text")

    def test_a_section_that_does_not_stand_in_the_formats_is_found(self):
        formats = {"docs/formats" "/a.md": "## 2.1 Lines\n\n| NET-03 plugin | x |\n| NET-04, NET-05 | y |\n"}
        source = "#pragma once\n/// source  docs/formats "
        self.assertEqual(findings({**formats, "base/units.h": source + "2.1 and NET-03..05\n"}), [])
        self.assert_one({**formats, "base/units.h": source + "2.1; 2.2\n"}, "base/units.h:2", "no 2.2")
        self.assert_one({**formats, "base/units.h": source + "NET-03..06\n"}, "base/units.h:2", "no NET-06")

    def test_a_word_of_the_dialect_in_a_document_is_found(self):
        words = {"tests/lint/words.txt": "# plain\n\\bnobody => no rank\n\\bby hand\\b => manually\n"}
        page = "docs" "/a.md"
        self.assertEqual(findings({**words, page: "plain\n"}), [])
        self.assert_one({**words, page: "plain\nNobody waits.\n"}, page + ":2", "write no rank")
        self.assert_one({**words, "README.md": "Install it by hand.\n"}, "README.md:1", "write manually")
        self.assert_one({**words, "base/README.md": "Nobody\n"}, "base/README.md:1", "write no rank")
        for fine in ("    nobody\n", "```\nnobody\n```\n", "`nobody`\n", "> nobody\n", "[a](nobody)\n"):
            lines = findings({**words, page: fine, "docs" "/nobody": ""})
            self.assertEqual(lines, [], fine)
        self.assertEqual(findings({**words, "docs/lab" "/a.md": "nobody\n", "tests/a/paste.md": "nobody\n"}), [])

    def test_a_word_of_the_dialect_in_a_comment_is_found(self):
        words = {"tests/lint/words.txt": "\\bnobody => no rank\n"}
        code = "#pragma once\n{}\n"
        for bad in ("/// nobody waits", "int a;  ///< nobody", 'say("a");  // "b" nobody', "/* nobody", " * nobody"):
            self.assert_one({**words, "tests/cli/a.h": code.format(bad)}, "tests/cli/a.h:2", "write no rank")
        for fine in ('say("// nobody");', "int nobody;", "// `nobody`", '// the log\'s "nobody"', "// no rank",
                     'get("http://nobody");'):
            self.assertEqual(findings({**words, "tests/cli/a.h": code.format(fine)}), [], fine)
        self.assert_one({**words, "tests/cli/rows.def": "// nobody\n"}, "tests/cli/rows.def:1", "write no rank")

    def test_the_words_of_this_tree_are_found(self):
        with open(os.path.join(os.path.dirname(CHECK), "words.txt"), encoding="utf-8") as file:
            words = {"tests/lint/words.txt": file.read()}
        said = ("the rank stands", "nobody", "mended", "whoever comes", "to blame", "the log tells", "told apart",
                "waits for nobody", "one that is none", "is left out", "of such.", "a wish", "reckoned", "hand over",
                "to the byte", "in turn", "by hand", "last words", "silence", "to be surer", "also weighed", "beside it",
                "circles of ranks", "foretold")
        found = {int(line.split(":")[1]) for line in findings({**words, "README.md": "\n".join(said) + "\n"})}
        self.assertEqual([one for number, one in enumerate(said, 1) if number not in found], [])

    def test_a_schema_or_variable_that_no_page_lists_is_found(self):
        json, environment = "docs/reference" "/json.md", "docs/reference" "/environment.md"
        for page, name in ((json, "ringside.gone/1"), (environment, "RINGSIDE_GONE")):
            code = {"trace/a.cpp": f'#include "base/units.h"\nauto name = "{name}";\n'}
            self.assert_one({**code, page: "page\n"}, "trace/a.cpp:2", f"does not list {name}")
            self.assertEqual(findings({**code, page: f"`{name}`\n"}), [])

    def test_a_link_or_page_that_does_not_exist_is_found(self):
        self.assert_one({"base/README.md": "units\n[a](../trace/gone.md#x)\n"}, "base/README.md:2", "trace/gone.md")
        self.assert_one({"trace/event.h": CLEAN["trace/event.h"] + "// docs" "/gone.md\n"}, "trace/event.h:5", "gone.md")
        self.assert_one({"base/README.md": "# Some units: `B`\n[a](#other-units)\n"}, "base/README.md:2", "#other-units")
        self.assertEqual(findings({"base/README.md": "# Some units: `B`\n[a](../trace/README.md) [b](../trace/) "
                                   "[c](https://x.org/y.md) [d](#some-units-b)\n"}), [])

    def test_a_grant_that_nobody_uses_is_found(self):
        table = "base :\ntrace : base\nengine : trace{}\nsim :\ntests : *\n<simgrid/ : sim{}\n<gtest/ : tests\n"
        self.assertEqual(findings({"tests/lint/arrows.txt": table.format("", "")}), [])
        self.assert_one({"tests/lint/arrows.txt": table.format(" base", "")},
                        "tests/lint/arrows.txt:3", "engine makes no use of base")
        self.assert_one({"tests/lint/arrows.txt": table.format("", " trace")},
                        "tests/lint/arrows.txt:6", "<simgrid/ makes no use of trace")

    def test_a_filter_of_tests_without_a_test_is_found(self):
        tests = CLEAN["tests/base/units_test.cpp"] + "TEST_P(Units, OfManyRanks) {}\n"
        for name, wrong in (("*OfManyRanks*Rdma*:Units*", ""), ("*OfManyRanks*:*OfOneRank*", "OfOneRank")):
            files = {"tests/base/units_test.cpp": tests, "tests/base/run.sh": f"$1 --gtest_filter='{name}'\n"}
            if wrong:
                self.assert_one(files, "tests/base/run.sh:1", wrong)
            else:
                self.assertEqual(findings(files), [])

    def test_unfinished_work_is_found(self):
        self.assert_one({"sim/simgrid/README.md": "SimGrid\n\nTO" "DO: more\n"}, "sim/simgrid/README.md:3", "unfinished")

    def test_a_header_of_201_lines_is_found_and_of_200_is_not(self):
        self.assertEqual(findings({"base/units.h": "#pragma once\n" * 200}), [])
        self.assert_one({"base/units.h": "#pragma once\n" * 201}, "base/units.h:201", "201 lines")

    def test_a_source_of_601_lines_is_found_and_of_600_is_not(self):
        self.assertEqual(findings({"base/a.cpp": "\n" * 600}), [])
        self.assert_one({"base/a.cpp": "\n" * 601}, "base/a.cpp:601", "601 lines")


if __name__ == "__main__":
    unittest.main()
