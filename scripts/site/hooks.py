"""Hooks of the site's build: a folder in the navigation stands for its pages, in order of their names."""

import logging
import pathlib

log = logging.getLogger("mkdocs.site")


def on_config(config):
    config["nav"] = [_expanded(entry, pathlib.Path(config["docs_dir"])) for entry in config["nav"]]
    return config


def _expanded(entry, pages):
    if not isinstance(entry, dict):
        return entry
    (title, value), = entry.items()
    if isinstance(value, list):
        return {title: [one for part in value for one in _parts(part, pages)]}
    return {title: value}


def _parts(part, pages):
    if isinstance(part, str) and part.endswith("/*"):
        folder = pages / part[:-2]
        paths = sorted(path.relative_to(pages).as_posix() for path in folder.glob("*.md") if path.name != "index.md")
        return ([f"{part[:-2]}/index.md"] if (folder / "index.md").exists() else []) + paths
    if isinstance(part, str) and not (pages / part).exists():
        log.info(f"there is no page {part} for the navigation")
        return []
    return [_expanded(part, pages)]
