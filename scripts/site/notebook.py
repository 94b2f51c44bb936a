#!/usr/bin/env python3
"""Runs a notebook and writes it, with its outputs, as a page: notebook.py NOTEBOOK PAGE.

A cell that raises stops the build. The notebook itself is kept without outputs, so that a change of it is legible.
"""

import base64
import os
import pathlib
import re
import sys

import nbformat
from nbclient import NotebookClient

MOST_BYTES = 60_000  # of one output


def text_of(value):
    return "".join(value) if isinstance(value, list) else value


class Page:
    def __init__(self, place):
        self.place, self.out, self.pictures = place, [], 0

    def output(self, output):
        if output.output_type == "stream":
            return self.text(output.text)
        data = output.get("data", {})
        if "image/svg+xml" in data:
            return self.picture("svg", text_of(data["image/svg+xml"]).encode())
        if "image/png" in data:
            return self.picture("png", base64.b64decode(data["image/png"]))
        if "text/html" in data:
            lines = [line.strip() for line in text_of(data["text/html"]).split("\n")]
            body = "\n".join(line for line in lines if line)  # an empty line would end a block of HTML
            return self.out.append(f'<div class="output">\n{body[:MOST_BYTES]}\n</div>\n')
        return self.text(text_of(data.get("text/plain", "")))

    def text(self, text):
        text = re.sub(r"\x1b\[[0-9;]*m", "", text).rstrip()
        if text:
            self.out.append(f"```text\n{text[:MOST_BYTES]}\n```\n")

    def picture(self, suffix, data):
        self.pictures += 1
        path = self.place.with_name(f"{self.place.stem}_{self.pictures}.{suffix}")
        path.write_bytes(data)
        self.out.append(f"![Output of the cell above]({path.name})\n")


def main():
    source, place = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    notebook = nbformat.read(source, as_version=4)
    if any(cell.cell_type == "code" and (cell.outputs or cell.execution_count) for cell in notebook.cells):
        raise SystemExit(f"{source} has outputs: keep it without them")
    folder = source.resolve().parents[2] / "examples/data"
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources=resources).execute()
    place.parent.mkdir(parents=True, exist_ok=True)
    page = Page(place)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            page.out.append(cell.source + "\n")
        else:
            page.out.append(f"```python\n{cell.source}\n```\n")
            for output in cell.outputs:
                page.output(output)
    place.write_text("\n".join(page.out), encoding="utf-8")
    print(f"notebook: {len(notebook.cells)} cells, {page.pictures} pictures")


if __name__ == "__main__":
    main()
