"""Statistics of the columns of a DataFrame, in one pass, with the same bits for every partitioning."""

import json
from numbers import Integral

from ..errors import InvalidArgumentError, InvalidDataError
from ._frame_columns import check_id, columns_of, expression, quoted, require_pyspark

__all__ = ["column_stats"]

_BLOCK_ROWS = 65_536


def column_stats(df, columns=None, *, id=None, moments=True, max_names=1_000_000):
    """Compute the statistics of columns of a DataFrame of Spark.

    Everything is exact, and no partitioning shows. Counts, missing values, zeros, extremes, the rows of extremes and
    the counts of names are those of :func:`stope.column_stats`. Sums, means, variances, deviations and skewnesses are
    the real numbers, each rounded once: those of :func:`stope.column_stats` are floating-point sums of a fixed shape,
    and differ in their last bits.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Classic or of Spark Connect. It is read once.
    columns : list of str or None, default=None
        None takes all columns but the id. Booleans are numbers.
    id : str or None, default=None
        A column of whole numbers. ``min_row`` and ``max_row`` are then the smallest id of the rows with that value.
        Without an id they are -1, and an extreme of -0 is 0.
    moments : bool, default=True
        False leaves out sums and all that follows from them, which take most of the time.
    max_names : int, default=1_000_000
        A column of more different names is refused: their counts would not fit the driver.

    Returns
    -------
    FrameStatistics
        A :class:`stope.ColumnStatistics` that says which statistics have which bits.
    """
    functions = require_pyspark()
    if isinstance(max_names, bool) or not isinstance(max_names, Integral) or max_names < 1:
        raise InvalidArgumentError(f"max_names: {max_names!r} is no whole number from 1 on")
    if id is not None:
        check_id(df, id, "id")
    found = columns_of(df, columns, without=() if id is None else (id,))
    chosen = [] if id is None else [functions.col(quoted(id)).cast("bigint").alias("id")]
    chosen += [expression(column).alias(f"c{i}") for i, column in enumerate(found)]
    chosen = df.select(*chosen)
    names, states = [column.name for column in found], (bool(moments), id is not None, int(max_names))

    def describe_partition(batches):
        yield from describe_batches(names, states, batches)

    rows = chosen.mapInArrow(describe_partition, "state string").collect()
    return _joined(names, states, [json.loads(row["state"]) for row in rows], chosen)


def describe_batches(names, states, batches):
    """Task of mapInArrow: one row of JSON, the states of all columns after the rows of a partition."""
    import pyarrow as pa

    from ._column_states import ColumnState
    from ._join_parts import parts_of

    found = [ColumnState(name, *states) for name in names]
    n_rows = n_missing = 0
    for block in parts_of(batches, _BLOCK_ROWS):
        n_rows += block.num_rows
        n_missing += _add_block(found, block, names, states[1])
    if n_rows:
        state = {"missing_ids": n_missing, "columns": [each.to_json() for each in found]}
        yield pa.RecordBatch.from_pydict({"state": [json.dumps(state)]})


def _add_block(states, block, names, identified):
    """Adds the rows of a block, and returns how many have no id."""
    from .. import _core
    from ..stats import ColumnStatistics
    from ._join_parts import sorted_by_id
    from ._join_recipe import task_run

    ids = None
    if identified:
        if block.column(0).null_count:
            return block.column(0).null_count
        block = sorted_by_id(block)
        ids = block.column(0).to_numpy()
        block = block.drop_columns([block.column_names[0]])
    run = task_run("cpu")
    table = _core.Table.of_arrow(block.rename_columns(names).__arrow_c_stream__(), run=run)
    found = ColumnStatistics(_core.describe_table(table, depth="extremes", run=run)[0], (), True, None)
    for at, state in enumerate(states):
        state.add(table.column(at), found, at, ids)
    return 0


def _joined(names, options, parts, chosen):
    from ._column_states import ColumnState
    from ._frame_statistics import FrameStatistics

    n_missing = sum(part["missing_ids"] for part in parts)
    if n_missing:
        raise InvalidDataError("id: there are rows without an id")
    states = [ColumnState(name, *options) for name in names]
    for part in parts:
        for state, json_state in zip(states, part["columns"]):
            state.join(json_state)
    if not parts:
        _add_block(states, chosen.limit(0).toArrow(), names, options[1])
    return FrameStatistics.of([state.finished() for state in states], *options[:2])
