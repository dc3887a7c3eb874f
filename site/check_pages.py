#!/usr/bin/env python3
"""Checks a folder of HTML pages: each link, anchor, picture, script and style exists, and no page loads anything from elsewhere.

usage: check_pages.py FOLDER     prints PAGE: what is wrong; status 1 when something is
"""

import os
import re
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

# Elements that make a browser fetch something, and the attribute that names it. A link of <a> is followed only on request.
LOADS = {"img": "src", "script": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src", "embed": "src",
         "object": "data", "link": "href"}
LOADING_LINKS = {"stylesheet", "icon", "preload", "prefetch", "preconnect", "dns-prefetch", "manifest", "modulepreload"}
CSS_LOADS = re.compile(r"(?:url\(\s*|@import\s+)[\"']?((?:https?:)?//[^\"')\s]+)")


class Page(HTMLParser):
    """The ids of a page, the links to follow, and what a browser loads with it."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loads, self.styles = set(), [], [], []
        self.is_style = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.ids.update(named[key] for key in ("id", "name") if named.get(key))
        if tag == "a" and named.get("href"):
            self.links.append(named["href"])
        if tag in LOADS and named.get(LOADS[tag]):
            if tag != "link" or LOADING_LINKS & set((named.get("rel") or "").split()):
                self.loads.append(named[LOADS[tag]])
        self.is_style = tag == "style"

    def handle_data(self, data):
        if self.is_style:
            self.styles.append(data)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def problems(folder):
    pages = {}
    found = []
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            if name.endswith(".html"):
                pages[path] = Page(read(path))
            elif name.endswith(".css"):
                found += [f"{path}: loads {address}" for address in CSS_LOADS.findall(read(path))]
    for path, page in sorted(pages.items()):
        found += [f"{path}: loads {address}" for style in page.styles for address in CSS_LOADS.findall(style)]
        for address in page.loads + page.links:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                if address in page.loads and parts.scheme != "data":
                    found.append(f"{path}: loads {address}")
                continue
            # The page that a server shows for a wrong address has links from the root on.
            start = folder if parts.path.startswith("/") else os.path.dirname(path)
            target = os.path.normpath(os.path.join(start, unquote(parts.path).lstrip("/"))) if parts.path else path
            if os.path.isdir(target):
                target = os.path.join(target, "index.html")
            if not os.path.exists(target):
                found.append(f"{path}: {address} does not exist")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
                found.append(f"{path}: {address}: no such anchor")
    return found, len(pages)


def main(arguments):
    if len(arguments) != 1 or not os.path.isdir(arguments[0]):
        print(__doc__, file=sys.stderr)
        return 2
    found, count = problems(os.path.normpath(arguments[0]))
    for problem in found:
        print(problem)
    if count == 0:
        print(f"{arguments[0]}: no page")
    return 1 if found or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
