"""If-Match and If-None-Match of a request that writes."""

from dataclasses import dataclass
from typing import Optional

from ..problems import Problem

__all__ = ["Condition"]


def _tags(header: str) -> list:
    return [tag.strip() for tag in header.split(",")]


@dataclass(frozen=True)
class Condition:
    """What a writer expects to replace. The default expects nothing."""

    if_match: Optional[str] = None
    if_none_match: Optional[str] = None

    def check(self, etag: Optional[str]) -> None:
        """Raise a Problem 412 unless the file's version is as expected; None is no file."""
        if self.if_match is not None:
            tags = _tags(self.if_match)
            # A weak tag never matches here (RFC 9110, 13.1.1): the bytes may differ.
            if etag is None or ("*" not in tags and etag not in tags):
                raise Problem(412, "version", "somebody has written another version"
                              if etag is not None else "there is nothing of that name to replace")
        if self.if_none_match is not None and etag is not None:
            tags = [tag.removeprefix("W/") for tag in _tags(self.if_none_match)]
            if "*" in tags or etag in tags:
                raise Problem(412, "version", "the name is taken")
