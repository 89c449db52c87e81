"""Builds the site of the documentation: `scripts/site` runs it.

The pages are the files of `docs/`, as a forge shows them, and `SECURITY.md` and `CHANGELOG.md`.
Their order, their sections and what each is for come from `docs/README.md`, the only list; their
titles are their first headings. A link that leads out of the site leads to the repository, if its
address is given, and is text if it is not.
"""

import argparse
import json
import os
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Pages beside `docs/` that are pages of the site, too.
BESIDE = ["SECURITY.md", "CHANGELOG.md"]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.S | re.M)


def sections(way):
    """The sections of `docs/README.md`: its name, and for each page what its reader wants and its path."""
    found = []
    for part in way.split("\n## ")[1:]:
        name, _, body = part.partition("\n")
        rows = [row.strip().strip("|").split("|") for row in body.split("\n") if row.startswith("| ")]
        pages = []
        for row in rows[1:]:
            wish, read = row[0].strip(), row[1]
            links = re.findall(r"\[([^\]]+)\]\(([^)#]+)(?:#[^)]*)?\)", read)
            for label, path in links:
                pages.append((wish if len(links) == 1 else f"{wish} ({label.strip('`')})", path))
        if pages:
            found.append((name.strip(), pages))
    return found


def title(text):
    return text.split("\n", 1)[0].removeprefix("# ").replace("`", "").strip()


def short(name):
    """A title in the menu: what follows a colon and is a path is left out."""
    return re.sub(r": [\w/.]*[/.]\S*$", "", name)


def place(path):
    """Where a page of the site is, for a path below `docs/`: one file of the root is one of the site."""
    path = posixpath.normpath(path)
    if path.startswith("../"):
        outside = path.removeprefix("../")
        return outside.lower() if outside in BESIDE else None
    if path.startswith("decisions/"):
        return None
    return "index.md" if path == "README.md" else path


def linked(text, page, repository):
    """The text of a page, whose links lead to pages of the site, or else to the repository."""
    folder = posixpath.dirname(page)

    def link(found):
        mark, label, target = found.groups()
        if "://" in target or target.startswith(("#", "mailto:")):
            return found.group(0)
        path, _, anchor = target.partition("#")
        whole = posixpath.normpath(posixpath.join(folder, path))
        to = place(whole)
        if to is None:
            inside = posixpath.normpath(posixpath.join("docs", whole))
            return f"[{label}]({repository}/blob/main/{inside}{'#' + anchor if anchor else ''})" if repository else label
        here = posixpath.dirname(place(page))
        return f"{mark}[{label}]({posixpath.relpath(to, here or '.')}{'#' + anchor if anchor else ''})"

    # Code keeps its text.
    parts, last = [], 0
    for fence in FENCE.finditer(text):
        parts += [LINK.sub(link, text[last : fence.start()]), fence.group(0)]
        last = fence.end()
    return "".join(parts) + LINK.sub(link, text[last:])


def piped(text):
    """In a cell, `\\|` in code is a bar: a forge reads it so, and Python-Markdown shows both."""
    row = lambda line: re.sub(r"`[^`]+`", lambda code: code.group(0).replace("\\|", "|"), line) if line.startswith("|") else line
    return "\n".join(map(row, text.split("\n")))


def sources(repository):
    """Every page of the site by its place, in order, with its section and what it is for."""
    docs = ROOT / "docs"
    way = (docs / "README.md").read_text()
    pages, order = {}, [("", "Start here", "README.md")]
    for section, listed in sections(way):
        order += [(section, wish, path) for wish, path in listed]
    order.append(("Reference", "know what has changed", "../CHANGELOG.md"))
    for section, wish, path in order:
        at = place(path)
        if at is None or at in pages:
            continue
        file = docs / path
        if file.suffix != ".md":
            continue
        text = file.read_text()
        pages[at] = {"section": section, "wish": wish, "title": title(text), "text": linked(text, path, repository)}
    left = {place(str(file.relative_to(docs))) for file in docs.rglob("*.md")} - set(pages) - {None}
    if left:
        sys.exit(f"site: docs/README.md does not lead to {', '.join(sorted(left))}")
    return pages


def configuration(pages, version, repository, address):
    """What Zensical reads: each string of JSON is one of TOML."""
    nav, section = [], None
    for at, page in pages.items():
        entry = {short(page["title"]): at}
        if not page["section"]:
            nav.append(entry)
        elif section == page["section"]:
            nav[-1][section].append(entry)
        else:
            section = page["section"]
            nav.append({section: [entry]})
    toml = (ROOT / "site/zensical.toml").read_text()
    head = {"site_url": address, "nav": nav, "site_name": f"Millrace {version}", "copyright": f"Millrace {version}"}
    if repository:
        head |= {"repo_url": repository, "edit_uri": "edit/main/docs/"}
    lines = [f"{key} = {inline(value)}" for key, value in head.items() if value]
    return toml.replace("[project]\n", "[project]\n" + "\n".join(lines) + "\n", 1)


def inline(value):
    if isinstance(value, list):
        return "[" + ", ".join(inline(each) for each in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {inline(each)}" for key, each in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


def for_models(pages, to, address):
    """`llms.txt`, the list of pages; `llms-full.txt`, all of their text; and each page as Markdown."""
    lines = ["# Millrace", "", "> A folder of YAML and TypeScript becomes an MCP server.", ""]
    whole, section = [], None
    for at, page in pages.items():
        (to / at).parent.mkdir(parents=True, exist_ok=True)
        (to / at).write_text(page["text"])
        whole.append(page["text"].strip())
        if not page["section"]:
            continue
        if section != page["section"]:
            section = page["section"]
            lines += [f"## {section}", ""] if lines[-1] == "" else ["", f"## {section}", ""]
        lines.append(f"- [{page['title']}]({address}{at}): {page['wish']}")
    (to / "llms.txt").write_text("\n".join(lines) + "\n")
    (to / "llms-full.txt").write_text("\n\n".join(whole) + "\n")


def main():
    options = argparse.ArgumentParser(description="Builds the site of the documentation.")
    options.add_argument("--to", type=pathlib.Path, default=ROOT / "target/site", help="the folder of the site")
    options.add_argument("--repository", default=os.environ.get("MILLRACE_REPOSITORY", ""), help="its address, for links that edit a page")
    options.add_argument("--address", default=os.environ.get("MILLRACE_SITE", ""), help="where the site will be, with a `/` at its end")
    given = options.parse_args()
    version = re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.M).group(1)
    made = given.to.parent / (given.to.name + "-sources")
    shutil.rmtree(made, ignore_errors=True)
    pages = sources(given.repository)
    for at, page in pages.items():
        (made / "docs" / at).parent.mkdir(parents=True, exist_ok=True)
        (made / "docs" / at).write_text(piped(page["text"]))
    shutil.copytree(ROOT / "docs/images", made / "docs/images")
    shutil.copytree(ROOT / "docs/operate", made / "docs/operate")
    for extra in ("extra.css", "extra.js"):
        shutil.copy(ROOT / "site" / extra, made / "docs" / extra)
    (made / "zensical.toml").write_text(configuration(pages, version, given.repository, given.address))
    zensical = pathlib.Path(sys.executable).parent / "zensical"
    built = subprocess.run([zensical, "build", "--clean", "--strict"], cwd=made, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
    if built.returncode or not (made / "site/index.html").exists():
        said = re.sub(r"\x1b\[[0-9;]*m", "", built.stdout + built.stderr)
        sys.exit(f"site: Zensical failed\n{said}")
    for file in (made / "site").rglob("*.html"):
        # Code that is wider than the page is scrolled, by the keyboard, too.
        text = re.sub(r"(<pre[^>]*>(?:<span></span>)?<code)>", r'\1 tabindex="0">', file.read_text())
        # A kind of link that HTML does not have.
        file.write_text(text.replace(' rel="edit"', ""))
    shutil.rmtree(given.to, ignore_errors=True)
    shutil.move(made / "site", given.to)
    for_models(pages, given.to, given.address)
    shutil.rmtree(made)
    print(f"site: {len(pages)} pages in {given.to}")


main()
