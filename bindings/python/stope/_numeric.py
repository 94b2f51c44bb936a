"""Tables of numbers: the rows of an X as the decompositions take them, and their results in the type of X."""

import numpy as np

__all__ = ["dtype_of", "float_rows", "numeric_table", "seed_of"]


def numeric_table(rows, run):
    """The rows as a table that lives no longer than the job, so X lends its memory where the engine can read it."""
    return rows.as_table(run, share=True)


def dtype_of(rows):
    """float32 where every column is float32, as scikit-learn keeps it; else float64."""
    if rows.array is not None:
        return np.dtype(np.float32 if rows.array.dtype == np.float32 else np.float64)
    types = {rows.table.column(i).array().dtype for i in range(rows.table.n_columns)}
    return np.dtype(np.float32 if types == {np.dtype(np.float32)} else np.float64)


def float_rows(rows):
    """The rows as an array of shape (n_rows, n_columns), float32 or float64."""
    if rows.array is not None:
        return rows.array.astype(dtype_of(rows), copy=False)
    columns = [rows.table.column(i).array() for i in range(rows.table.n_columns)]
    return np.column_stack(columns).astype(dtype_of(rows), copy=False)


def seed_of(random_state):
    """A seed for the engine: 0 for None, so that two fits agree; drawn from a generator, where one is given."""
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return int(random_state) % 2**64
