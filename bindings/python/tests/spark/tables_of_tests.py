"""Tables that tests join, describe and rank: with ties, NaN, -0, missing and repeated values."""

import numpy as np
import pyarrow as pa


def mixed_table(n_rows, seed=0, first_id=-50, names=("red", "green", "blue", "Ä", "")):
    """Rows with ids in no order: numbers with ties and NaN, -0 and 0, whole numbers, dates, names, booleans, labels."""
    random = np.random.default_rng(seed)
    names = random.choice(names, n_rows)
    return pa.table({
        "id": random.permutation(n_rows) * 3 + first_id,
        "ties": np.round(random.normal(size=n_rows)),
        "zeros": random.choice([0.0, -0.0, 1.0], n_rows),
        "with.dots": np.where(random.random(n_rows) < 0.1, np.nan, random.normal(size=n_rows)),
        "whole": pa.array(random.integers(-3, 4, n_rows).astype(np.int32)),
        "day": pa.array(random.integers(0, 5, n_rows).astype("M8[D]")),
        "moment": pa.array(random.integers(0, 2**40, n_rows) * 1001, pa.timestamp("us", "UTC")),
        "name": pa.array(names, mask=random.random(n_rows) < 0.1),
        "truth": pa.array(random.random(n_rows) < 0.5),
        "class": pa.array(random.choice(["a", "b", "c"], n_rows)),
        "target": random.normal(size=n_rows),
    })


def sorted_by_id(table, ids="id"):
    """The rows as one machine has them: by id. Booleans are whole numbers there, as they are in DataFrames."""
    table = table.take(pa.array(np.argsort(table[ids].to_numpy(), kind="stable")))
    for index, field in enumerate(table.schema):
        if pa.types.is_boolean(field.type):
            table = table.set_column(index, field.name, table.column(index).cast(pa.int8()).cast(pa.int32()))
    return table


def frame_of(spark, table, n_partitions=None):
    """The table as a DataFrame of so many partitions."""
    frame = spark.createDataFrame(table)
    return frame if n_partitions is None else frame.repartition(n_partitions)
