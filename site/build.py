#!/usr/bin/env python3
"""The documents as a site: collects the pages, makes the replays, calls mkdocs, checks the result.

usage: build.py RINGSIDE FOLDER     the program, and where FOLDER/html and FOLDER/source go
"""

import json
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HERE = os.path.join(ROOT, "site")
FIRST, INDEX = "README.md", "docs/README.md"
LINK = re.compile(r"\]\(([^)#\s]+)[^)\s]*\)")
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
WEB_PAGE = "<!-- web page -->"
REPLAY = re.compile(r"^<!-- replay ([\w-]+): (.+) -->$", re.MULTILINE)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def targets(page, text):
    """Paths from the root that a page links: documents, pictures, folders."""
    for link in LINK.findall(text):
        if "://" not in link and not link.startswith("mailto:"):
            yield os.path.normpath(os.path.join(os.path.dirname(page), link))


def listing(folder):
    """A page for a folder that documents link: its files."""
    names = sorted(os.listdir(os.path.join(ROOT, folder)))
    files = [name for name in names if os.path.isfile(os.path.join(ROOT, folder, name)) and not name.endswith(".md")]
    return f"# {folder}\n\n" + "".join(f"- [{name}]({name})\n" for name in files), files


def collect(source):
    """Copies into `source` all that the first pages lead to, and returns the pages."""
    pages, waiting, seen = {}, [FIRST, INDEX], set()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        here = os.path.join(ROOT, path)
        if path.endswith(".md"):
            pages[path] = read(here)
            waiting += targets(path, pages[path])
        elif os.path.isdir(here):
            pages[path + "/index.md"], files = listing(path)
            waiting += [f"{path}/{name}" for name in files]
        else:
            os.makedirs(os.path.dirname(os.path.join(source, path)), exist_ok=True)
            shutil.copyfile(here, os.path.join(source, path))
    return pages


def title_of(text):
    return re.search(r"^# (.+)$", text, re.MULTILINE)[1].replace("`", "")


def navigation(pages):
    """The sections of the index of documents; below each page its own, where the page is another index."""
    nav, placed = [{"Start": FIRST}], {FIRST}

    def add(page):
        placed.add(page)
        below = [one for one in targets(page, pages[page]) if one in pages and one not in placed
                 and os.path.dirname(one) == os.path.dirname(page)] if page.endswith("/README.md") else []
        if not below:
            return {title_of(pages[page]): page}
        return {title_of(pages[page]): [page] + [add(one) for one in dict.fromkeys(below)]}

    parts = HEADING.split(pages[INDEX])
    placed.add(INDEX)
    for heading, text in zip(parts[1::2], parts[2::2]):
        own = [one for one in dict.fromkeys(targets(INDEX, text)) if one in pages and one not in placed]
        nav.append({heading: [add(one) for one in own if one not in placed]})
    return nav


def with_replays(page, text, program, source):
    """Each comment that asks for a replay becomes one."""
    def replay(match):
        name, command = match[1], match[2]
        trace = os.path.join(source, name + ".rtrace")
        html = os.path.join(source, "replays", name + ".html")
        os.makedirs(os.path.dirname(html), exist_ok=True)
        subprocess.run([program, *command.split(), "--trace", trace], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([program, "trace", "export", "--html", html, trace], check=True, stdout=subprocess.DEVNULL)
        os.remove(trace)
        to = os.path.relpath(f"replays/{name}.html", os.path.dirname(page))
        return (f'<iframe class="replay" src="{to}" title="{command}" loading="lazy"></iframe>\n\n'
                f"[The replay alone]({to}): `ringside {command} --trace run.rtrace`, then "
                "`ringside trace export --html run.html run.rtrace`.")
    return REPLAY.sub(replay, text)


def with_web_page(page, text, source):
    """The comment that asks for the page of `./run web` becomes a link to it, where it has been built."""
    built = os.path.join(ROOT, "build", "web", "ringside.html")
    if WEB_PAGE not in text or not os.path.exists(built):
        return text
    shutil.copyfile(built, os.path.join(source, "ringside.html"))
    to = os.path.relpath("ringside.html", os.path.dirname(page))
    return text.replace(WEB_PAGE, f"**[Open the page]({to})**")


def has_theme():
    """mkdocs may belong to another Python than this one, so it answers itself: its help lists the themes."""
    if not shutil.which("mkdocs"):
        return False
    return "material" in subprocess.run(["mkdocs", "build", "--help"], capture_output=True, text=True).stdout


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    if not has_theme():
        print("skipped: needs mkdocs and mkdocs-material: ./run site installs them")
        return 77
    program, folder = map(os.path.abspath, arguments)
    source, html = os.path.join(folder, "source"), os.path.join(folder, "html")
    shutil.rmtree(source, ignore_errors=True)
    pages = collect(source)
    pages[FIRST] = "---\nhide: [navigation]\n---\n" + pages[FIRST]
    for page, text in pages.items():
        text = with_replays(page, text, program, source)
        write(os.path.join(source, page), with_web_page(page, text, source))
    shutil.copyfile(os.path.join(HERE, "site.css"), os.path.join(source, "site.css"))
    config = os.path.join(folder, "mkdocs.yml")  # JSON is YAML
    write(config, json.dumps({"INHERIT": os.path.join(HERE, "mkdocs.yml"), "docs_dir": source, "site_dir": html,
                              "nav": navigation(pages)}, indent=1))
    subprocess.run(["mkdocs", "build", "--quiet", "--clean", "--config-file", config], check=True)
    return subprocess.run([sys.executable, os.path.join(HERE, "check_pages.py"), html]).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
