"""Answers as CSV, in the engine's spelling: shortest numbers, missing values empty, dates as ISO text."""

from ... import _core

__all__ = ["CsvWriter"]


class CsvWriter:
    """Makes the bytes of an answer from its blocks."""

    repeats_texts = True

    def __init__(self, profile=""):
        self._begun = False

    def block(self, table) -> bytes:
        rows = _core.rows_text(table, "csv", _core.Run(1))
        if self._begun:
            return rows
        self._begun = True
        return _core.csv_header(table) + rows

    def end(self) -> bytes:
        return b""
