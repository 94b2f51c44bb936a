"""Ids of rows: none is missing, and none stands twice."""

from ..errors import InvalidDataError
from ._frame_columns import require_pyspark

__all__ = ["refuse_ids_given_twice", "refuse_missing_ids"]


def refuse_missing_ids(n_missing, what, name):
    """Raises InvalidDataError if ``n_missing`` is not 0."""
    if n_missing:
        raise InvalidDataError(f"{what}: {n_missing} rows have no value in the column {name!r}")


def refuse_ids_given_twice(rows, what, name):
    """Raises InvalidDataError if two rows have one id."""
    functions = require_pyspark()
    twice = rows.groupBy("id").agg(functions.count("*").alias("rows")).where("rows > 1").limit(1).collect()
    if twice:
        raise InvalidDataError(f"{what}: {twice[0]['rows']} rows have the id {twice[0]['id']} in the column {name!r}")
