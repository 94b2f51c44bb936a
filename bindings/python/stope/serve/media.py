"""Media types: in which format a body is, and in which one an answer is wanted."""

from dataclasses import dataclass

from .problems import Problem

__all__ = [
    "ANSWERED",
    "ARROW",
    "ARROW_FILE",
    "CSV",
    "JSON",
    "PARQUET",
    "READ",
    "ROWS",
    "AnswerFormat",
    "BodyFormat",
    "answer_coding",
    "answer_format",
    "body_coding",
    "body_format",
]

CSV = "text/csv"
JSON = "application/json"
ARROW = "application/vnd.apache.arrow.stream"
ARROW_FILE = "application/vnd.apache.arrow.file"
PARQUET = "application/vnd.apache.parquet"
ROWS = "application/vnd.stope.rows"

READ = (CSV, JSON, ARROW, ARROW_FILE, PARQUET, ROWS)
ANSWERED = (JSON, CSV, ARROW, ROWS)  # the first of them answers `*/*`

_FORMATS = {CSV: "csv", JSON: "json", ARROW: "arrow", ARROW_FILE: "arrow", PARQUET: "parquet", ROWS: "rows"}
_CODINGS = ("zstd", "gzip")  # in our order of preference


@dataclass(frozen=True)
class BodyFormat:
    """A body's format ("csv", "json", "arrow", "parquet", "rows") with what its media type says besides."""

    name: str
    charset: str = ""  # "" is UTF-8
    header: str = ""  # of CSV: "yes", "no", or "" where the type does not say


@dataclass(frozen=True)
class AnswerFormat:
    """An answer's format ("csv", "json", "arrow", "rows") and, of JSON, its profile."""

    name: str
    profile: str = ""

    @property
    def media_type(self):
        return {"csv": "text/csv; charset=utf-8; header=present", "json": JSON, "arrow": ARROW, "rows": ROWS}[self.name]


def _parsed(text):
    """A media type in lower case, and its parameters."""
    kind, *rest = text.split(";")
    parameters = {}
    for part in rest:
        name, _, value = part.partition("=")
        parameters[name.strip().lower()] = value.strip().strip('"')
    return kind.strip().lower(), parameters


def body_format(request) -> BodyFormat:
    """Return the format of a request's body; a Problem (415) where it has none of those that are read."""
    given = request.headers.get("content-type", "")
    if given == JSON:
        return _PLAIN_JSON
    kind, parameters = _parsed(given)
    if kind not in _FORMATS:
        said = f"The body is {_shown(kind)}" if kind else "The body has no Content-Type"
        raise Problem(
            415, "media-type", f"{said}; stope reads {', '.join(READ)}.", headers={"Accept-Post": ", ".join(READ)}
        )
    charset = parameters.get("charset", "").lower()
    if kind != CSV:
        if charset not in ("", "utf-8", "utf8"):
            raise Problem(415, "media-type", f"{kind} is read as UTF-8 only; convert it from {_shown(charset)}.")
        return BodyFormat(_FORMATS[kind])
    header = {"present": "yes", "absent": "no", "": ""}.get(parameters.get("header", "").lower())
    if header is None:
        raise Problem(415, "media-type", "The parameter header of text/csv is present or absent.")
    return BodyFormat("csv", "" if charset in ("utf-8", "utf8", "us-ascii") else charset, header)


_PLAIN_JSON = BodyFormat("json")


def body_coding(request) -> str:
    """Return "identity", "gzip" or "zstd"; a Problem (415) for any other Content-Encoding."""
    given = request.headers.get("content-encoding", "identity").strip().lower()
    given = {"": "identity", "x-gzip": "gzip"}.get(given, given)
    if given not in ("identity", "gzip", "zstd"):
        raise Problem(
            415,
            "encoding",
            f"The Content-Encoding {_shown(given)} is not read; gzip and zstd are.",
            headers={"Accept-Encoding": "gzip, zstd"},
        )
    return given


def answer_format(request) -> AnswerFormat:
    """Return the format that the header Accept prefers; JSON without one; a Problem (406) where none will do."""
    accept = ", ".join(request.headers.getlist("accept"))
    if not accept or accept == "*/*" or accept == JSON:
        return _ANSWERED_JSON
    entries = [_parsed(part) for part in accept.split(",")]
    ranks = []
    for number, form in enumerate(_ANSWERS):
        matches = [(_exactness(form, *entry), -place) for place, entry in enumerate(entries)]
        exactness, place = max(matches)
        quality = _quality(entries[-place][1].get("q", "1"))
        if exactness >= 0 and quality > 0:
            ranks.append((quality, exactness, place, -number))
    if not ranks:
        raise Problem(
            406, "not-acceptable", f"No format of the header Accept is written; stope writes {', '.join(ANSWERED)}."
        )
    return _ANSWERS[-max(ranks)[-1]]


_ANSWERED_JSON = AnswerFormat("json", "columns")
_ANSWERS = (
    _ANSWERED_JSON, AnswerFormat("csv"), AnswerFormat("arrow"), AnswerFormat("rows"), AnswerFormat("json", "records"),
)  # fmt: skip


def _exactness(form, kind, parameters):
    """How exactly an entry of Accept names a format: 0 for any, 1 for a part, 2 for the type; -1 where it does not."""
    if kind == JSON and form.name == "json":
        return 2 if parameters.get("profile", "columns").lower() == form.profile else -1
    if form.profile == "records":
        return -1  # by its name alone
    if kind in ANSWERED:
        return 2 if _FORMATS[kind] == form.name else -1
    if kind in ("text/*", "application/*"):
        return 1 if (kind == "text/*") == (form.name == "csv") else -1
    return 0 if kind == "*/*" else -1


def answer_coding(request) -> str:
    """Return "zstd" or "gzip" where the header Accept-Encoding takes it, else "identity"."""
    given = request.headers.get("accept-encoding", "")
    if not given or given == "identity":
        return "identity"
    qualities = {}
    for part in given.split(","):
        name, parameters = _parsed(part)
        qualities[name] = _quality(parameters.get("q", "1"))
    wanted = [(qualities.get(name, qualities.get("*", 0)), -place, name) for place, name in enumerate(_CODINGS)]
    quality, _, name = max(wanted)
    return name if quality > 0 else "identity"


def _quality(text):
    try:
        return min(max(float(text), 0.0), 1.0)
    except ValueError:
        return 0.0


def _shown(text):
    """What a client sent, short enough for a sentence."""
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= 60 else text[:57] + "..."
