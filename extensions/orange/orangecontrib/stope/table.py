"""Orange's tables as tables of the engine, and back.

A continuous variable becomes a column of numbers, and a time variable its seconds. A discrete variable becomes a
nominal column whose values keep their order. NaN is missing on both sides. Instance weights become a column of the role
weight. Columns keep their names; the model's domain decides their order.
"""

import numpy as np
from Orange.data import ContinuousVariable, DiscreteVariable, Domain, Table, TimeVariable

from .engine import job, native

__all__ = [
    "DataError", "attribute_table", "from_stope", "require_dense", "rows_of_array", "to_stope", "training_table",
]

_SECONDS_PER_DAY = 86400


class DataError(ValueError):
    """Data that a job cannot take; the text says what to do about it."""


def require_dense(data):
    """Raise DataError for tables that are sparse, or have an infinite value."""
    if data.is_sparse():
        raise DataError(
            "The data are sparse, and stope takes dense tables. Make them dense first, with 'Sparse' in Edit Domain or "
            "with Continuize."
        )
    X = data.X
    if X.dtype.kind != "f":
        return
    if np.isinf(X).any():
        row, column = np.argwhere(np.isinf(X))[0]
        raise DataError(
            f"'{data.domain.attributes[column].name}' is infinite in row {row + 1}. Replace infinite values, or mark "
            "them as missing."
        )


def attribute_table(data, attributes=None):
    """The attributes of an Orange table as a table of the engine.

    Parameters
    ----------
    data : Orange.data.Table
    attributes : list of Variable or None
        Some of the domain's attributes; None takes all.

    Raises
    ------
    DataError
        For sparse tables and infinite values.
    """
    require_dense(data)
    with job() as run:
        return native().Table.of_columns(_attribute_columns(data, attributes, run), len(data))


def training_table(data, attributes=None, *, target=True, weights=True):
    """As :func:`attribute_table`, with the class as label and the instances' weights.

    Rows without a class are refused: the caller leaves them out first.
    """
    require_dense(data)
    core = native()
    with job() as run:
        columns = _attribute_columns(data, attributes, run)
        taken = {column.name for column in columns}
        if target:
            columns.append(_class_column(data, _free_name(data.domain.class_var.name, taken), run))
            taken.add(columns[-1].name)
        if weights and data.has_weights():
            values = np.ascontiguousarray(data.W, dtype=np.float64).reshape(-1)
            column = core.Column.numeric(_free_name("weight", taken), values, run=run)
            column.role = "weight"
            columns.append(column)
        return core.Table.of_columns(columns, len(data))


def _attribute_columns(data, attributes, run):
    domain = data.domain
    places = range(len(domain.attributes)) if attributes is None else [domain.index(var) for var in attributes]
    return [column_of(domain.attributes[place].name, domain.attributes[place], data.X[:, place], run)
            for place in places]


def _class_column(data, name, run):
    values = np.asarray(data.Y, dtype=np.float64).reshape(-1)
    if np.isinf(values).any():
        row = int(np.flatnonzero(np.isinf(values))[0])
        raise DataError(f"The class '{data.domain.class_var.name}' is infinite in row {row + 1}. Leave such rows out.")
    column = column_of(name, data.domain.class_var, values, run)
    column.role = "label"
    return column


def column_of(name, variable, values, run):
    """The engine's column for one variable and its values. Raises DataError for names that are no Unicode text."""
    core = native()
    values = np.asarray(values, dtype=np.float64)
    for text in (name, *(variable.values if variable.is_discrete else ())):
        if not _is_text(text):
            raise DataError(f"{text!r} is no Unicode text. Rename it with Edit Domain.")
    if variable.is_discrete:
        codes = np.where(np.isnan(values), -1, values).astype(np.int32)
        return core.Column.nominal(name, codes, core.Values(list(variable.values)))
    return core.Column.numeric(name, np.ascontiguousarray(values), run=run)


def _is_text(name):
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _free_name(wanted, taken):
    """The name, lengthened until no other column has it."""
    while wanted in taken:
        wanted += "_"
    return wanted


def to_stope(data):
    """Make a ``stope.Table`` of an Orange table, for scripts.

    Attributes are features, the class is the label and weights are the column "weight". Metas are ignored by every
    job. Further class variables are ignored, too. Text becomes nominal, with its values sorted.

    Parameters
    ----------
    data : Orange.data.Table
        Dense.

    Returns
    -------
    stope.Table
    """
    import stope

    require_dense(data)
    core = native()
    domain = data.domain
    with job() as run:
        columns = _attribute_columns(data, None, run)
        for place, variable in enumerate(domain.class_vars):
            column = column_of(variable.name, variable, data.Y if data.Y.ndim == 1 else data.Y[:, place], run)
            column.role = "label" if len(domain.class_vars) == 1 else "ignore"
            columns.append(column)
        for place, variable in enumerate(domain.metas):
            columns.append(_meta_column(core, variable, data.metas[:, place], run))
        if data.has_weights():
            column = core.Column.numeric(_free_name("weight", {c.name for c in columns}), np.asarray(data.W), run=run)
            column.role = "weight"
            columns.append(column)
        return stope.Table(core.Table.of_columns(columns, len(data)))


def _meta_column(core, variable, values, run):
    if variable.is_string:
        texts = [None if _is_no_text(value) else str(value) for value in values]
        names = sorted({text for text in texts if text is not None})
        code_of = {name: code for code, name in enumerate(names)}
        codes = np.array([-1 if text is None else code_of[text] for text in texts], dtype=np.int32)
        column = core.Column.nominal(variable.name, codes, core.Values(names))
    else:
        column = column_of(variable.name, variable, values.astype(np.float64), run)
    column.role = "ignore"
    return column


def _is_no_text(value):
    return value is None or value == "" or isinstance(value, float) and np.isnan(value)


def rows_of_array(domain, X):
    """An Orange table of an array's rows, with the attributes of ``domain`` and unknown classes."""
    X = np.atleast_2d(np.asarray(X, dtype=np.float64))
    if X.shape[1] != len(domain.attributes):
        raise DataError(f"The model has {len(domain.attributes)} attributes, and the rows have {X.shape[1]} values.")
    return Table.from_numpy(Domain(domain.attributes), X)


def from_stope(table, name="untitled"):
    """Make an Orange table of a ``stope.Table``, for scripts.

    Numbers become continuous, dates time variables, and nominal columns discrete with the same order of values. The
    label is the class. Columns of the role id or ignore become metas, and a column of weights the instances' weights.

    Parameters
    ----------
    table : stope.Table
    name : str

    Returns
    -------
    Orange.data.Table
    """
    parts = {"regular": ([], []), "label": ([], []), "metas": ([], [])}
    weights = None
    for column_name, role in table.roles.items():
        if role == "weight":
            weights = np.array(table[column_name], dtype=np.float64)
            continue
        variables, arrays = parts[role if role in parts else "metas"]
        variable, values = _variable_of(table, column_name)
        variables.append(variable)
        arrays.append(values)
    domain = Domain(parts["regular"][0], parts["label"][0], parts["metas"][0])
    blocks = [np.column_stack(arrays) if arrays else np.empty((len(table), 0)) for _, arrays in parts.values()]
    made = Table.from_numpy(domain, blocks[0], blocks[1], blocks[2], weights)
    made.name = name
    return made


def _variable_of(table, name):
    categories = table.categories(name)
    if categories is not None:
        codes = table.codes(name)
        return DiscreteVariable(name, values=tuple(categories)), np.where(codes < 0, np.nan, codes)
    values = np.array(table[name], dtype=np.float64)
    if table.dtypes[name] == "date":
        return TimeVariable(name, have_date=1, have_time=1), values * _SECONDS_PER_DAY
    return ContinuousVariable(name), values
