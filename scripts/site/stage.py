#!/usr/bin/env python3
"""Lays the pages of the documentation site out in one folder: stage.py PROJECT FOLDER.

The pages of docs/ keep their places. The README files elsewhere and the pages at the root get places of their own.
A link to any other file of the project becomes a link to a listing of that file, so that no link leaves the site.
In docs/index.md, `site:PAGE` is a page that the build makes, such as site:gallery.md.
"""

import os
import pathlib
import re
import shutil
import sys

LINK = re.compile(r"(\]\()([^)\s]+)(\))")
IMAGES = {".svg", ".png"}
LANGUAGES = {
    ".hpp": "cpp", ".cpp": "cpp", ".h": "c", ".c": "c", ".py": "python", ".sh": "bash", ".java": "java", ".cu": "cpp",
    ".json": "json", ".ipynb": "json", ".txt": "text",
}
MOST_BYTES = 300_000  # of a listing: larger files are offered as they are
ROOT_PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "SECURITY.md": "security.md"}


class Stage:
    """One run: where each page goes, and which listings are wanted."""

    def __init__(self, project, folder):
        self.project, self.folder = project, folder
        self.places = {}  # path in the project -> path in the site
        self.listed = {}  # the same, for listings made so far
        for path in sorted((project / "docs").rglob("*.md")):
            self.places[path] = pathlib.PurePosixPath(path.relative_to(project / "docs").as_posix())
        self.places[project / "README.md"] = pathlib.PurePosixPath("readme.md")
        for name, place in ROOT_PAGES.items():
            self.places[project / name] = pathlib.PurePosixPath(place)
        for top in ("src", "extensions", "bench", "examples"):
            for path in sorted((project / top).rglob("README.md")):
                inside = path.parent.relative_to(project).as_posix().replace("/", "-")
                self.places[path] = pathlib.PurePosixPath("inside", inside + ".md")

    def run(self):
        for path, place in self.places.items():
            self.write(place, self.page(path, place))
        for path in sorted((self.project / "docs/images").iterdir()):
            self.copy(path, pathlib.PurePosixPath("images", path.name))
        self.write(pathlib.PurePosixPath("adr/index.md"), self.decisions())
        for path in sorted((self.project / "docs").rglob("*.ipynb")):
            self.place_of(path)  # the page of a notebook links to its source

    def page(self, path, place):
        text = path.read_text(encoding="utf-8")
        lines, fenced = [], False
        for line in text.split("\n"):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            lines.append(line if fenced else LINK.sub(lambda found: self.link(found, path, place), line))
        return "\n".join(lines)

    def link(self, found, path, place):
        target, _, heading = found.group(2).partition("#")
        if target.startswith("site:"):
            to = pathlib.PurePosixPath(target.removeprefix("site:"))
        elif not target or "://" in target or target.startswith("mailto:"):
            return found.group()
        else:
            to = self.place_of((path.parent / target).resolve())
        relative = os.path.relpath(to, place.parent)
        return f"{found.group(1)}{relative}{'#' + heading if heading else ''}{found.group(3)}"

    def place_of(self, path):
        """Where the site has a file or folder of the project. Its listing is made when the first link asks for it."""
        if path in self.places:
            return self.places[path]
        if path == self.project / "docs/adr":
            return pathlib.PurePosixPath("adr/index.md")
        if path in self.listed:
            return self.listed[path]
        inside = pathlib.PurePosixPath(path.relative_to(self.project).as_posix())
        if inside.parts[:2] == ("docs", "images"):
            return pathlib.PurePosixPath("images", path.name)
        if inside.parts[:2] == ("include", "stope") and path.suffix in (".hpp", ".h"):
            return pathlib.PurePosixPath("reference/cpp", path.name.replace(".", "_") + ".md")
        if path.is_dir():
            self.listed[path] = pathlib.PurePosixPath("source", inside, "index.md")
            self.write(self.listed[path], self.folder_listing(path, inside))
        elif path.suffix in IMAGES or path.stat().st_size > MOST_BYTES or path.suffix == ".json":
            self.listed[path] = pathlib.PurePosixPath("source", inside)
            self.copy(path, self.listed[path])
        else:
            self.listed[path] = pathlib.PurePosixPath("source", str(inside).replace(".", "_") + ".md")
            self.write(self.listed[path], self.listing(path, inside))
        return self.listed[path]

    def listing(self, path, inside):
        language = LANGUAGES.get(path.suffix, "text")
        fence = "`````"
        text = path.read_text(encoding="utf-8", errors="replace").rstrip()
        return f"{HIDDEN}# {inside.name}\n\n`{inside}` in the source tree.\n\n{fence}{language}\n{text}\n{fence}\n"

    def folder_listing(self, path, inside):
        place = self.listed[path]
        rows = []
        for entry in sorted(path.iterdir()):
            if entry.is_file():
                to = os.path.relpath(self.place_of(entry), place.parent)
                rows.append(f"- [{entry.name}]({to})")
        return f"{HIDDEN}# {inside}/\n\nFiles of this folder of the source tree.\n\n" + "\n".join(rows) + "\n"

    def decisions(self):
        rows = []
        for path in sorted((self.project / "docs/adr").glob("*.md")):
            title = path.read_text(encoding="utf-8").split("\n")[0].lstrip("# ")
            rows.append(f"- [{title}]({path.name})")
        return "# Decisions\n\nEach page records one lasting decision: context, choice, cost, when to revisit.\n\n" + "\n".join(rows) + "\n"

    def write(self, place, text):
        to = self.folder / place
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text, encoding="utf-8")

    def copy(self, path, place):
        to = self.folder / place
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)


HIDDEN = "---\nsearch:\n  exclude: true\n---\n\n"


if __name__ == "__main__":
    Stage(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()).run()
