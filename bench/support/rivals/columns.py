"""Rows of bench/rivals.py: statistics of columns, by group too, quantiles and correlations. Rivals are NumPy, pandas,
polars, pyarrow and DuckDB. Each has the table in the form that it likes best, made before the time begins: NumPy and
stope columns side by side (Fortran order), the others frames of their own.
"""
import numpy as np

from bench.support.rivals.row import Program, Row, Stope, count, differences, smaller, with_settings

SHARES = [0.05, 0.25, 0.5, 0.75, 0.95]
STATISTICS = ("min", "max", "mean", "var")


def made(n, d, n_groups):
    g = np.random.default_rng(n + d)
    X = np.empty((n, d), order="F")
    common = g.standard_normal(n)
    for j in range(d):
        X[:, j] = g.standard_normal(n) + common * (j / d) + j
    return X, g.integers(n_groups, size=n) if n_groups else None


def names(X):
    return [f"x{j}" for j in range(X.shape[1])]


class Columns(Program):
    """`job` is the method that runs: "stats", "groups", "quantiles" or "correlation"."""

    job = "stats"

    def begin(self):
        self.X, self.groups_of = self.data
        self.prepare()

    def prepare(self):
        """Makes the program's own table."""

    def run(self):
        self.found = getattr(self, self.job)()

    def answer(self):
        return {"found": np.array([np.asarray(each, dtype=np.float64) for each in self.found])}


class StopeColumns(Columns, Stope):
    def prepare(self):
        if self.job == "groups":
            import pandas

            frame = pandas.DataFrame(self.X, columns=names(self.X), copy=False)
            frame["group"] = pandas.Categorical.from_codes(self.groups_of, [f"{i:05}" for i in range(self.groups_of.max() + 1)])
            self.table = self.stope.Table.from_pandas(frame)

    def stats(self):
        found = self.stope.column_stats(self.X)
        return [found.min, found.max, found.mean, found.variance]

    def groups(self):
        # The last column is the groups' own.
        found = [each for _, each in sorted(self.stope.column_stats(self.table, by="group").classes.items())]
        return [[getattr(each, name)[:-1] for each in found] for name in ("min", "max", "mean", "variance")]

    def quantiles(self):
        return list(self.stope.column_stats(self.X, quantiles=SHARES).quantiles.values())

    def correlation(self):
        return self.stope.correlation(self.X).values


class NumPyColumns(Columns):
    package = "numpy"

    def stats(self):
        return [self.X.min(axis=0), self.X.max(axis=0), self.X.mean(axis=0), self.X.var(axis=0, ddof=1)]

    def quantiles(self):
        return np.quantile(self.X, SHARES, axis=0)

    def correlation(self):
        return np.corrcoef(self.X, rowvar=False)


class PandasColumns(Columns):
    package = "pandas"

    def prepare(self):
        import pandas

        self.frame = pandas.DataFrame(self.X, columns=names(self.X), copy=False)
        if self.groups_of is not None:
            self.frame["group"] = pandas.Categorical(self.groups_of)

    def stats(self):
        return [self.frame.min(), self.frame.max(), self.frame.mean(), self.frame.var()]

    def groups(self):
        groups = self.frame.groupby("group", observed=True, sort=True)
        return [getattr(groups, name)() for name in STATISTICS]

    def quantiles(self):
        return self.frame.quantile(SHARES).to_numpy()

    def correlation(self):
        return self.frame.corr().to_numpy()


class PolarsColumns(Columns):
    package = "polars"

    def prepare(self):
        import polars

        self.polars = polars
        columns = {name: self.X[:, j] for j, name in enumerate(names(self.X))}
        self.frame = polars.DataFrame(columns | ({} if self.groups_of is None else {"group": self.groups_of}))

    def expressions(self):
        every = self.polars.col(names(self.X))
        return [getattr(every, name)().name.suffix(f"_{name}") for name in STATISTICS]

    def stats(self):
        return self.frame.select(self.expressions()).to_numpy().reshape(len(STATISTICS), -1)

    def groups(self):
        found = self.frame.group_by("group").agg(self.expressions()).sort("group").drop("group").to_numpy()
        return np.hsplit(found, len(STATISTICS))

    def quantiles(self):
        wanted = [self.polars.all().quantile(q, "linear").name.suffix(f"_{q}") for q in SHARES]
        return self.frame.select(wanted).to_numpy().reshape(len(SHARES), -1)

    def correlation(self):
        return self.frame.corr().to_numpy()


class ArrowColumns(Columns):
    package = "pyarrow"

    def prepare(self):
        import pyarrow
        import pyarrow.compute

        pyarrow.set_cpu_count(self.threads)
        self.compute = pyarrow.compute
        columns = {name: self.X[:, j] for j, name in enumerate(names(self.X))}
        self.table = pyarrow.table(columns | ({} if self.groups_of is None else {"group": self.groups_of}))

    def stats(self):
        options = self.compute.VarianceOptions(ddof=1)
        found = []
        for column in self.table.columns:
            ends = self.compute.min_max(column).as_py()
            spread = self.compute.variance(column, options=options)
            found.append([ends["min"], ends["max"], self.compute.mean(column).as_py(), spread.as_py()])
        return np.array(found).T

    def groups(self):
        options = self.compute.VarianceOptions(ddof=1)
        kinds = [("min", None), ("max", None), ("mean", None), ("variance", options)]
        wanted = [(name, kind, option) for kind, option in kinds for name in names(self.X)]
        found = self.table.group_by("group").aggregate(wanted).sort_by("group")
        return [np.column_stack([found[f"{name}_{kind}"] for name in names(self.X)]) for kind, _ in kinds]

    def quantiles(self):
        return np.column_stack([self.compute.quantile(column, q=SHARES).to_numpy() for column in self.table.columns])


class DuckColumns(Columns):
    package = "duckdb"

    def prepare(self):
        import duckdb
        import polars

        columns = {name: self.X[:, j] for j, name in enumerate(names(self.X))}
        frame = polars.DataFrame(columns | ({} if self.groups_of is None else {"group": self.groups_of}))
        self.connection = duckdb.connect(config={"threads": self.threads})
        self.connection.register("given", frame.to_arrow())
        self.connection.execute("CREATE TABLE t AS SELECT * FROM given")
        self.connection.unregister("given")

    def wanted(self):
        calls = {"min": "min", "max": "max", "mean": "avg", "var": "var_samp"}
        return ", ".join(f"{calls[kind]}({name})" for kind in STATISTICS for name in names(self.X))

    def select(self, words):
        columns = self.connection.execute(f"SELECT {words}").fetchnumpy().values()
        return np.column_stack([np.asarray(each, dtype=np.float64) for each in columns])

    def stats(self):
        return self.select(f"{self.wanted()} FROM t").reshape(len(STATISTICS), -1)

    def groups(self):
        found = self.select(f'{self.wanted()} FROM t GROUP BY "group" ORDER BY "group"')
        return np.hsplit(found, len(STATISTICS))

    def quantiles(self):
        wanted = ", ".join(f"quantile_cont({name}, {SHARES})" for name in names(self.X))
        return np.array(self.connection.execute(f"SELECT {wanted} FROM t").fetchone()).T


ALL = {"stope": StopeColumns, "NumPy": NumPyColumns, "pandas": PandasColumns, "polars": PolarsColumns,
       "pyarrow": ArrowColumns, "DuckDB": DuckColumns}


def row(job, n, d, n_groups=0):
    programs = with_settings({name: make for name, make in ALL.items() if hasattr(make, job)}, job=job)
    words = (f"{count(n)}x{d}",) + ((f"g{n_groups}",) if n_groups else ())
    shape = {"rows": n, "columns": d, "groups": n_groups, "dtype": "float64"}
    return Row(job, words, shape, lambda: made(n, d, n_groups), programs, differences, 8 * n * d)


def rows(share):
    shapes = [("stats", 5_000_000, 10), ("stats", 200_000, 300), ("stats", 1000, 20), ("groups", 5_000_000, 4, 10),
              ("groups", 1_000_000, 10, 1000), ("quantiles", 5_000_000, 5), ("quantiles", 100_000, 100),
              ("correlation", 1_000_000, 50), ("correlation", 200_000, 60), ("correlation", 2000, 1000)]
    return [row(job, smaller(n, share, 1000), *rest) for job, n, *rest in shapes]
