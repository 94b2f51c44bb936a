"""What the API's JSON answers are made of, for the OpenAPI description, and the bodies that it takes."""

from typing import Any, Dict, List, Optional

from pydantic import BaseModel, Field

from .. import media

__all__ = [
    "BODY_OF_ROWS", "JobDescription", "ModelInfo", "ModelList", "TableDescription", "TableList", "body_of_model",
    "rows_answer",
]


class ColumnDescription(BaseModel):
    name: str
    type: str = Field(description="real, integer, date, nominal, polynominal or binominal")
    role: str = Field(description="regular, label, id, weight or ignore")
    values: Optional[List[str]] = Field(None, description="of a nominal column: its values, at most 1,000 of them")
    n_values: Optional[int] = Field(None, description="of a nominal column: how many values it has")
    missing: int = Field(description="rows without a value")


class TableSummary(BaseModel):
    name: str
    rows: int
    columns: int
    bytes: int = Field(description="of the file")
    changed: float = Field(description="seconds since 1970-01-01 UTC")


class TableDescription(BaseModel):
    name: str
    rows: int
    columns: List[ColumnDescription]
    bytes: int
    changed: float
    etag: str


class TableList(BaseModel):
    tables: List[TableSummary]


class ModelSummary(BaseModel):
    name: str
    bytes: int
    changed: float


class ModelList(BaseModel):
    models: List[ModelSummary]


class ModelInfo(BaseModel):
    name: str
    kind: str
    gives: str = Field(description="classes, numbers, neighbors or table")
    classes: List[str]
    options: Dict[str, Any]
    columns: List[Dict[str, Any]]
    tables: List[str] = Field(description="parts that GET /v1/models/{name}/tables/{part} gives")
    bytes: int
    changed: float
    etag: str


class JobDescription(BaseModel):
    id: str
    what: str
    caller: str
    state: str = Field(description="waiting, running, done, failed or cancelled")
    phase: Optional[str] = Field(description="what it does now")
    done: int
    total: int = Field(description="0 where nobody knows it")
    seconds: float = Field(description="of computing")
    created: float = Field(description="seconds since 1970-01-01 UTC")
    notes: List[str] = Field(description="warnings, and where it was computed; once it has ended")
    problem: Optional[Dict[str, Any]]


class JobList(BaseModel):
    jobs: List[JobDescription]


_ROWS_JSON = {
    "type": "object",
    "properties": {
        "columns": {"type": "array", "items": {"type": "object"}},
        "rows": {"type": "array", "items": {"type": "array"}},
    },
    "required": ["columns", "rows"],
}
_BINARY = {"type": "string", "format": "binary"}

BODY_OF_ROWS = {
    "description": "Rows. CSV is read as the command line reads it; JSON is {\"columns\": [names], \"rows\": [[values]]}, "
                   "a list of records, or {\"column\": [values]}.",
    "content": {
        media.CSV: {"schema": {"type": "string"}, "example": "a,b\n1,x\n2,y\n"},
        media.JSON: {"schema": {"anyOf": [{"type": "object"}, {"type": "array", "items": {"type": "object"}}]},
                     "example": {"columns": ["a", "b"], "rows": [[1, "x"], [2, "y"]]}},
        media.ARROW: {"schema": _BINARY},
        media.ARROW_FILE: {"schema": _BINARY},
        media.PARQUET: {"schema": _BINARY},
        media.ROWS: {"schema": _BINARY},
    },
}


def body_of_model() -> dict:
    return {"description": "A model file.", "required": True,
            "content": {"application/octet-stream": {"schema": _BINARY}}}


def rows_answer(text: str) -> dict:
    """The description of an answer of rows, in each format that Accept may ask for."""
    return {
        "description": text,
        "content": {
            media.JSON: {"schema": {"anyOf": [_ROWS_JSON, {"type": "array", "items": {"type": "object"}}]}},
            media.CSV: {"schema": {"type": "string"}},
            media.ARROW: {"schema": _BINARY},
            media.ROWS: {"schema": _BINARY},
        },
    }
