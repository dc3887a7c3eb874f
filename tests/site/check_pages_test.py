#!/usr/bin/env python3
"""site/check_pages.py over small sites, each with one thing wrong."""

import os
import subprocess
import sys
import tempfile
import unittest

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "site", "check_pages.py")
CLEAN = {
    "index.html": '<a href="docs/a.html#here">a</a> <a href="docs/">docs</a> <a href="https://example.org">elsewhere</a>'
                  '<img src="data:image/png;base64,AA"><link rel="stylesheet" href="style.css">'
                  '<link rel="canonical" href="https://example.org/">',
    "docs/index.html": '<a href="../index.html">up</a>',
    "docs/a.html": '<h2 id="here">a</h2><iframe src="../replay.html"></iframe>',
    "replay.html": "<script>go()</script>",
    "style.css": "body { background: url(picture.png) }",
}
BROKEN = {
    "a page that is missing": ("index.html", '<a href="docs/b.html">b</a>', "docs/b.html does not exist"),
    "an anchor that is missing": ("index.html", '<a href="docs/a.html#there">a</a>', "no such anchor"),
    "an anchor of the same page": ("docs/a.html", '<a href="#there">a</a>', "no such anchor"),
    "a picture that is missing": ("docs/a.html", '<img src="none.png">', "none.png does not exist"),
    "a folder without an index": ("docs/a.html", '<a href="pictures/">a</a>', "pictures/ does not exist"),
    "a script from elsewhere": ("index.html", '<script src="https://cdn.example.org/a.js"></script>', "loads https://cdn"),
    "a font from elsewhere": ("index.html", '<link rel="stylesheet" href="//fonts.example.org/a">', "loads //fonts"),
    "a style that loads": ("style.css", "@import 'https://fonts.example.org/a';", "loads https://fonts"),
    "a style in a page that loads": ("docs/a.html", "<style>b { background: url(https://a.example.org/b) }</style>", "loads https://a"),
}


class CheckPages(unittest.TestCase):
    def check(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = os.path.join(folder, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            return subprocess.run([sys.executable, CHECK, folder], capture_output=True, text=True)

    def test_a_clean_site_passes(self):
        run = self.check(CLEAN)
        self.assertEqual((run.returncode, run.stdout), (0, ""))

    def test_each_thing_that_is_wrong_is_found(self):
        for what, (name, text, message) in BROKEN.items():
            with self.subTest(what):
                run = self.check({**CLEAN, name: CLEAN[name] + text})
                self.assertEqual(run.returncode, 1)
                self.assertIn(message, run.stdout)
                self.assertEqual(len(run.stdout.splitlines()), 1)

    def test_a_folder_without_pages_is_no_site(self):
        self.assertEqual(self.check({"a.css": ""}).returncode, 1)


if __name__ == "__main__":
    unittest.main()
