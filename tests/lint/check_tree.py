#!/usr/bin/env python3
"""The rules of the tree that no compiler checks: tests/lint/README.md.

usage: check_tree.py ROOT     prints FILE:LINE: what is wrong; status 1 when something is, 2 on bad usage
"""

import os
import re
import subprocess
import sys

CODE = (".h", ".cpp", ".cu", ".cuh")
HEADERS = (".h", ".cuh")
TEXT = CODE + (".py", ".sh", ".txt", ".cmake", ".md", ".yaml", ".fbs", ".in", ".def")
HEADER_LINES, SOURCE_LINES = 200, 600
LAYER = re.compile(r"\| `([\w/]+)/` \|.*\| ([^|]+) \|$")  # a row of docs/architecture.md: folder, includes
TEMPORARIES = ("base/temporary.cpp", "web/platform/posix/unistd.h")  # what uses that call, and what declares it where the system does not
WHO = ("sources", "cpp")  # who below a folder may include a library; tests/lint/arrows.txt
# In two parts, so that this file passes its own check.
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME)\b")
# A path below the folder for temporary files is a test's own when the name of the process or of the test is in it.
SHARED_PATH = re.compile(r'TempDir\(\)\)?\s*[+/]')
OWN_PATH = re.compile(r'getpid|current_test_info|%p')
# Calls that throw, or whose names another user can guess, where base/ has what does not.
UNSAFE_CALLS = (
    (re.compile(r"\bfor \(.*: *(std::)?(fs|filesystem)::(recursive_)?directory_iterator"),
     "++ throws on a folder that cannot be read: use names_in() or files_below() of base/folder.h"),
    (re.compile(r"\b(temp_directory_path|mkdtemp|mkstemp|tmpnam)\(|\.part\".*getpid"),
     "a name that others can guess: use base/temporary.h"))
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')
# Public headers: what is installed. Every folder may include them, they include the standard library and each other.
PUBLIC, PUBLIC_START = "include/ringside", "ringside/"
STANDARD = re.compile(r"[a-z_]+|std[a-z]+\.h")

# docs/formats: sections and rules that are cited by number must exist there. `docs/formats 2.3; 9.1 NET-03..05, NET-19 and 4.8`
FORMATS = "docs/formats"
SECTION, RULE = r"\d+\.\d+", r"[A-Z][A-Z0-9]*-\d+(?:\.\.\d+)?"
CITED = re.compile(rf"{FORMATS}((?:[\s,;]+(?:and |to )?(?:{SECTION}|{RULE})\b)+)")
SECTION_HEADING = re.compile(rf"^#+ ({SECTION}) ")
RULE_ROW = re.compile(rf"^\| ({RULE}(?:, {RULE})*) ")

# Documents and comments of code: plain English, by the words of tests/lint/words.txt. Lab notes keep their history.
WORDS, LAB = "tests/lint/words.txt", "docs/lab"
COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)\'|(?<!:)//(.*)|^\s*/?\*(.*)')
QUOTED = re.compile(r'`[^`]*`|"[^"]*"')  # names and foreign text within a comment
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
# What code names and a reference page lists.
LISTED = ((re.compile(r'"(ringside\.[\w-]+/\d+)"'), "docs/reference/json.md"),
          (re.compile(r'"(RINGSIDE_[A-Z_]+)"'), "docs/reference/environment.md"))
# Tests that a script selects by parts of their names, and the names.
FILTER, FILTER_PART = re.compile(r"--gtest_filter=['\"]?([\w*:./-]+)"), re.compile(r"[A-Z]\w{5,}")
TEST_NAME = re.compile(r"^TEST(?:_[FP])?\((\w+), (\w+)\)", re.MULTILINE)
PAGE = re.compile(r"(?<![\w/.])docs/[\w/.-]+\.md\b")  # named in code or text, from the root


def list_files(root):
    """Paths below root: what git tracks or would, or all files where there is no git checkout."""
    if os.path.exists(os.path.join(root, ".git")):
        git = subprocess.run(
            ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True, text=True)
        if git.returncode == 0:
            names = [name for name in git.stdout.split("\0") if name]
            return sorted(name for name in names if os.path.isfile(os.path.join(root, name)))
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name != "build" and not name.startswith(".")]
        found += [os.path.relpath(os.path.join(folder, name), root) for name in files]
    return sorted(found)


def is_below(path, folder):
    return folder == "*" or path == folder or path.startswith(folder + "/")


class Arrows:
    """arrows.txt: `folders` maps a folder to those it may include, `libraries` a header's start to
    (folders, who below them: all, their "sources", or "cpp" alone)."""

    def __init__(self, text):
        self.folders, self.libraries = {}, {}
        for line in text.splitlines():
            line = line.partition("#")[0].strip()
            if not line:
                continue
            name, _, allowed = (part.strip() for part in line.partition(":"))
            if name.startswith("<"):
                words = allowed.split()
                who = next((word for word in WHO if word in words), "all")
                self.libraries[name[1:]] = ([word for word in words if word not in WHO], who)
            else:
                self.folders[name] = allowed.split()

    def folder_of(self, path):
        """The longest folder of the table that holds path, or None."""
        holding = [folder for folder in self.folders if is_below(path, folder)]
        return max(holding, key=len, default=None)

    def wrong_include(self, path, target):
        """Why path may not include "target" (a path from the root), or None."""
        if re.fullmatch(r"\w+_generated\.h", target) or target.startswith(PUBLIC_START):
            return None  # flatc's, from the build folder: of the folder that includes it; a public header
        here, there = self.folder_of(path), self.folder_of(target)
        if here is None:
            return f"{os.path.dirname(path) or path} has no line in tests/lint/arrows.txt"
        if there is None:
            return (f'"{target}" starts with no folder of tests/lint/arrows.txt; '
                    "write our headers from the root, libraries in <>")
        if here == there or any(is_below(target, folder) for folder in self.folders[here]):
            return None
        allowed = ", ".join(self.folders[here]) or "nothing of ours"
        return f'{here} may not include "{target}"; it may include {allowed} (tests/lint/arrows.txt)'

    def wrong_library(self, path, target, is_listed):
        for start, (folders, who) in self.libraries.items():
            if not target.startswith(start):
                continue
            if not any(is_below(path, folder) for folder in folders):
                return f"<{target}> belongs to {'/ and '.join(folders)}/ alone"
            if who == "cpp" and path.endswith(HEADERS):
                return f"<{target}> may not be in a header: each file that includes it compiles seconds longer"
            if who == "sources" and is_listed:
                return f"<{target}> may not be in a header that CMakeLists.txt lists: other folders include it"
        return None


def listed_headers(folder, lines):
    """Paths of the headers that a CMakeLists.txt gives to ringside_add_library."""
    words = re.sub(r"#.*", "", "\n".join(lines)).replace(")", " ) ").split()
    found, listing = set(), False
    for word in words:
        if word.isupper() or word == ")":
            listing = word == "HEADERS"
        elif listing:
            found.add(f"{folder}/{word}")
    return found


def check_code(path, lines, arrows, listed):
    """Yields (line number, what is wrong) for one file of code."""
    limit = HEADER_LINES if path.endswith(HEADERS) else SOURCE_LINES
    if len(lines) > limit:
        yield limit + 1, f"{len(lines)} lines, more than {limit}: split it by purpose"
    if path.endswith(HEADERS):
        first = next((number for number, line in enumerate(lines, 1)
                      if line.strip() and not line.startswith("//")), 1)
        if not lines or lines[first - 1].strip() != "#pragma once":
            yield first, "a header starts with #pragma once"
    for number, line in enumerate(lines, 1):
        if SHARED_PATH.search(line) and not OWN_PATH.search(" ".join(lines[number - 1:number + 3])):
            yield number, "two tests at once write to this path: add std::to_string(::getpid()) to its name"
        for call, why in UNSAFE_CALLS:
            if call.search(line) and not is_below(path, "tests") and path not in TEMPORARIES:
                yield number, why
        match = INCLUDE.match(line)
        if not match:
            continue
        if is_below(path, PUBLIC):
            is_fine = match[1] == "<" and (match[2].startswith(PUBLIC_START) or STANDARD.fullmatch(match[2]))
            wrong = None if is_fine else (f"a public header may not include {match[2]}: it is installed, and may include the "
                                          "standard library and <ringside/...> alone")
        elif match[1] == '"':
            wrong = arrows.wrong_include(path, match[2])
        else:
            wrong = arrows.wrong_library(path, match[2], path in listed)
        if wrong:
            yield number, wrong


def expand(rule):
    """NET-03..05 -> NET-03, NET-04, NET-05"""
    first, _, last = rule.partition("..")
    kind, number = first.rsplit("-", 1)
    return [f"{kind}-{n:0{len(number)}}" for n in range(int(number), int(last or number) + 1)]


def words_of(text):
    """The sections and single rules that a text names."""
    return re.findall(rf"(?<![\w.-]){SECTION}(?![\w.-])", text) + [
        one for rule in re.findall(RULE, text) for one in expand(rule)]


def check_citations(texts):
    """Yields (path, line number, what is wrong) for cited sections and rules that docs/formats does not have."""
    known = set()
    for path, lines in texts.items():
        if path.startswith(FORMATS + "/"):
            for line in lines:
                for match in filter(None, (SECTION_HEADING.match(line), RULE_ROW.match(line))):
                    known.update(words_of(match[1]))
    for path, lines in texts.items():
        for number, line in enumerate(lines, 1):
            for cited in CITED.findall(line):
                for word in words_of(cited):
                    if word not in known:
                        yield path, number, f"docs/formats has no {word}"


def prose_of(lines):
    """(line number, text) of a Markdown page without code, quotations and link targets."""
    is_fenced = False
    for number, line in enumerate(lines, 1):
        is_fence = line.lstrip().startswith("```")
        is_fenced ^= is_fence
        if not (is_fence or is_fenced or line.startswith(("    ", ">"))):
            yield number, LINK.sub("]", re.sub(r"`[^`]*`", "``", line))


def comments_of(lines):
    """(line number, text) of the comments of C++, CUDA or a .def file, without what they quote."""
    for number, line in enumerate(lines, 1):
        for match in COMMENT.finditer(line):
            text = match[1] or match[2]
            if text:
                yield number, QUOTED.sub("``", text)


def english_of(path, lines):
    """(line number, text) of the part of a file that is held to plain English."""
    if path.endswith(".md"):
        is_fixture = is_below(path, "tests") and not path.endswith("/README.md")
        return () if is_below(path, LAB) or is_fixture else prose_of(lines)
    return comments_of(lines) if path.endswith((*CODE, ".def")) else ()


def check_words(texts, words):
    """Yields (path, line number, what is wrong) for words of words.txt in documents and in comments of code."""
    table = [[part.strip() for part in line.split("=>")] for line in words if "=>" in line]
    for path, lines in texts.items():
        for number, text in english_of(path, lines):
            for pattern, plain in table:
                found = re.search(pattern, text, re.IGNORECASE)
                if found:
                    yield path, number, f"'{found[0]}': write {plain} ({WORDS})"


def anchors_of(lines):
    """What links to the headings of a Markdown page are called (GitHub's rule)."""
    return {re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower()).replace(" ", "-")
            for line in lines if line.startswith("#")}


def check_links(texts, files):
    """Yields (path, line number, what is wrong) for links of Markdown pages, their headings, and pages of docs/ that do
    not exist."""
    folders = {os.path.dirname(path) for path in files}
    folders |= {folder[:at] for folder in folders for at in range(len(folder)) if folder[at] == "/"} | {"", "."}
    for path, lines in texts.items():
        for number, line in enumerate(lines, 1):
            targets = [(target, "") for target in PAGE.findall(line)]
            if path.endswith(".md"):
                here = os.path.dirname(path)
                targets += [(os.path.normpath(os.path.join(here, target)) if target else path, heading)
                            for target, heading in LINK.findall(line) if "://" not in target]
            for target, heading in targets:
                if target not in files and target not in folders:
                    yield path, number, f"there is no {target}"
                elif heading and heading not in anchors_of(texts.get(target, ())):
                    yield path, number, f"{target} has no heading #{heading}"


def check_lists(texts):
    """Yields (path, line number, what is wrong) for JSON schemas and variables that no reference page lists."""
    for name, page in LISTED:
        listed = "\n".join(texts.get(page, ()))
        for path, lines in texts.items():
            if page in texts and path.endswith(CODE) and not is_below(path, "tests"):
                for number, line in enumerate(lines, 1):
                    for found in name.findall(line):
                        if f"`{found}`" not in listed:
                            yield path, number, f"{page} does not list {found}"


def check_grants(table, arrows, texts):
    """Yields (path, line number, what is wrong) for unused permissions of the table."""
    used, used_libraries = set(), set()
    for path, lines in texts.items():
        if not path.endswith(CODE):
            continue
        here = arrows.folder_of(path)
        for match in filter(None, map(INCLUDE.match, lines)):
            if match[1] == '"' and arrows.folder_of(match[2]) != here:
                used.update((here, folder) for folder in arrows.folders.get(here, ()) if is_below(match[2], folder))
            if match[1] == "<":
                used_libraries.update((start, folder) for start, (folders, _) in arrows.libraries.items()
                                      for folder in folders if match[2].startswith(start) and is_below(path, folder))
    for number, line in enumerate(texts[table], 1):
        name, _, allowed = (part.strip() for part in line.partition("#")[0].partition(":"))
        for folder in allowed.split():
            pair = (name.lstrip("<"), folder)
            if folder not in ("*", *WHO) and pair not in (used_libraries if name.startswith("<") else used):
                yield table, number, f"{name} makes no use of {folder}"


def check_layers(page, arrows, lines):
    """Yields (path, line number, what is wrong) where the page's table differs from arrows.txt. The page names a
    folder by its last word, and marks the names as code."""
    full = {name.rpartition("/")[2]: name for name in arrows.folders}
    listed = {}
    for number, line in enumerate(lines, 1):
        row = LAYER.match(line)
        name = row and row[1]
        if name in arrows.folders:
            words = re.findall(r"`([^`]+)`", row[2])
            listed[name] = ["*"] if row[2] == "everything" else [full.get(word, word) for word in words]
            if sorted(listed[name]) != sorted(arrows.folders[name]):
                allowed = ", ".join(arrows.folders[name]) or "nothing of ours"
                yield page, number, f"tests/lint/arrows.txt lets {name} include {allowed}"
    missing = [name for name in arrows.folders if name not in listed]
    if missing:
        yield page, 1, f"no row for {', '.join(missing)} of tests/lint/arrows.txt"


def needs_readme(folder, files):
    """docs/contributing/testing.md is the README of all of tests/, web/README.md of the mirror of the tree in web/platform/; a
    folder without a CMakeLists.txt is a room of the one above."""
    if folder.startswith(("tests/", "web/platform/")) or not folder:
        return False
    is_room = f"{folder}/CMakeLists.txt" not in files and f"{os.path.dirname(folder)}/CMakeLists.txt" in files
    return not is_room and f"{folder}/README.md" not in files


def rooms_in_cycles(texts):
    """Sibling folders of one target that include each other: they are one folder, or a file is in the wrong one."""
    targets = {os.path.dirname(path) for path in texts if path.endswith("/CMakeLists.txt")}
    includes = {}
    for path, lines in texts.items():
        room = os.path.dirname(path)
        if not path.endswith(CODE) or room in targets or os.path.dirname(room) not in targets:
            continue
        for line in lines:
            match = INCLUDE.match(line)
            other = os.path.dirname(match[2]) if match and match[1] == '"' else room
            if other != room and os.path.dirname(other) == os.path.dirname(room):
                includes.setdefault(room, set()).add(other)

    def reached(room):
        found, left = set(), [room]
        while left:
            for other in includes.get(left.pop(), set()) - found:
                found.add(other)
                left.append(other)
        return found

    for room in sorted(includes):
        circle = sorted(other for other in reached(room) if room in reached(other))
        if circle and circle[0] == room:
            yield room, 1, f"rooms include each other in a cycle: {', '.join(circle)}"


def check_cmake(lines):
    """A missing source must be an error, not a missing target."""
    for number, line in enumerate(lines, 1):
        if re.search(r"\bEXISTS\s+\$\{(CMAKE_CURRENT|PROJECT)_SOURCE_DIR\}.*(\.cpp|CMakeLists\.txt)", line):
            yield number, "name sources, do not search for them: a missing file must be an error"


def unlisted_tests(texts):
    """Files *_test.cpp that the CMakeLists.txt of their folder does not name: nothing would build or run them."""
    for path in texts:
        folder, name = os.path.split(path)
        listing = " ".join(line.partition("#")[0] for line in texts.get(f"{folder}/CMakeLists.txt", []))
        if name.endswith("_test.cpp") and not re.search(rf"(?<![\w./]){re.escape(name)}\b", listing):
            yield path, 1, f"{folder}/CMakeLists.txt does not name it: it is never run"


def filters_without_tests(texts):
    """Parts of a --gtest_filter that no test's name contains: a test was renamed, and the script runs nothing."""
    names = " ".join(" ".join(match.groups()) for path, lines in texts.items() if path.endswith(CODE)
                     for match in TEST_NAME.finditer("\n".join(lines)))
    for path, lines in texts.items():
        for number, line in enumerate(lines, 1):
            for part in {part for found in FILTER.findall(line) for part in FILTER_PART.findall(found)}:
                if part not in names:
                    yield path, number, f"--gtest_filter: no test's name contains {part}"


def classes_of(lines):
    """(line, name with namespaces) of each class that is defined at the level of a named namespace."""
    spaces = []
    for number, line in enumerate(lines, 1):
        opened = re.match(r"(?:inline )?namespace ?(?:RINGSIDE_API )?([\w:]*) \{$", line)
        if opened:
            spaces.append(opened[1])
        elif re.match(r"\}  // namespace\b", line) and spaces:
            spaces.pop()
        elif "" not in spaces:
            found = re.match(r"(?:template <.*> )?(?:class|struct) (?:\[\[\w+\]\] |alignas\(.*\) )*(\w+)(?: final)?(?: : .*)? \{", line)
            if found:
                yield number, "::".join([*spaces, found[1]])


def defined_twice(texts):
    """Two classes of one name in one namespace: the linker keeps one of their destructors for both."""
    first = {}
    for path, lines in texts.items():
        if not path.endswith(CODE):
            continue
        for number, name in classes_of(lines):
            if first.setdefault(name, path) != path:
                yield path, number, f"{name} is another class in {first[name]}"


def check(root):
    """All findings, as lines FILE:LINE: TEXT. A tree without a table of its own is held to ours."""
    files = list_files(root)
    texts = {}
    for path in files:
        if path.endswith(TEXT):
            with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
                texts[path] = file.read().splitlines()
    findings = []
    table = "tests/lint/arrows.txt"
    if table in texts:
        arrows = Arrows("\n".join(texts[table]))
        findings += check_grants(table, arrows, texts)
    else:
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "arrows.txt"), encoding="utf-8") as file:
            arrows = Arrows(file.read())
    page = "docs/architecture.md"
    if page in texts:
        findings += check_layers(page, arrows, texts[page])
    findings += check_citations(texts)
    findings += check_links(texts, set(files))
    findings += check_lists(texts)
    if WORDS in texts:
        findings += check_words(texts, texts[WORDS])
    listed = set()
    for path, lines in texts.items():
        if path.endswith("/CMakeLists.txt"):
            listed |= listed_headers(os.path.dirname(path), lines)

    for path, lines in texts.items():
        if path.endswith(CODE):
            findings += [(path, *finding) for finding in check_code(path, lines, arrows, listed)]
        findings += [(path, number, "unfinished work: do it, or open an issue")
                     for number, line in enumerate(lines, 1) if UNFINISHED.search(line)]
        if path.endswith("CMakeLists.txt"):
            findings += [(path, *finding) for finding in check_cmake(lines)]
    findings += unlisted_tests(texts)
    findings += filters_without_tests(texts)
    findings += defined_twice(texts)
    findings += rooms_in_cycles(texts)
    folders = {os.path.dirname(path) for path in files if path.endswith(CODE)}
    findings += [(folder, 1, "a folder with code has a README.md")
                 for folder in sorted(folders) if needs_readme(folder, set(files))]
    return [f"{path}:{number}: {text}" for path, number, text in sorted(findings)]


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    findings = check(arguments[0])
    print("\n".join(findings), end="\n" if findings else "")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
