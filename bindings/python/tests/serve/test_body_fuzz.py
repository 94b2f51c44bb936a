"""Bodies that are damaged at random, in every format: what comes out is a table or a Problem, never anything else, and
the same in whatever parts the body arrives. Half of the damages know the body's form (body_mutations.py).

``python -m serve.test_body_fuzz SECONDS [SEED]`` in the folder of the tests runs longer, and says how many bodies it
tried.
"""

import gzip
import io
import sys
import time

import numpy as np
import pytest

for needed in ("starlette", "pyarrow", "zstandard"):
    pytest.importorskip(needed, reason=f"SKIP: the package {needed} is missing")

import pyarrow  # noqa: E402
import pyarrow.parquet  # noqa: E402
import zstandard  # noqa: E402
from stope.serve.bodies import Feature, ReadingOptions  # noqa: E402
from stope.serve.problems import problem_of  # noqa: E402
from stope.serve.settings import Limits  # noqa: E402

from .bodies_in_process import ARROW, CSV, JSON, PARQUET, RECORDS, ROWS, answered, blocks, cut, whole  # noqa: E402
from .body_mutations import structured  # noqa: E402

_FEATURES = [Feature("c", "polynominal"), Feature("a", "real"), Feature("d", "date")]
_LIMITS = Limits(body_bytes=1 << 20, rows=100_000, columns=1000)
_ODD = [
    b"\0",
    b"\xff" * 4,
    b"\x7f\xff\xff\xff",
    b'"',
    b"\n",
    b"\r",
    b",",
    b"[",
    b"]",
    b"{",
    b"}",
    b"null",
    b"1e999",
    b"NaN",
    b"9007199254740993",
    b"\\ud800",
    b"-0.0",
    b"\xef\xbb\xbf",
    b"sep=;\n",
    b"\x80\0\0\0\0\0\0\0",
    b'"rows":',
    b"5e-324",
]


def _table():
    text = b'a,b,c,d\n1,x,u,2020-01-02\n,y,v,\n-0.0,,u,2021-05-06\n2.5e-310,x,"w, ""q""",1969-12-31\n'
    return whole(text * 1 + b"7,x,u,2020-01-01\n" * 40, CSV)


def _arrow(table, **options):
    sink = io.BytesIO()
    with pyarrow.ipc.new_stream(sink, table.schema, options=pyarrow.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=20)
    return sink.getvalue()


def seeds():
    """(media type, headers, body): valid bodies of every form."""
    table = _table()
    made = [(accept.split(";")[0], {}, answered(table, accept)[2]) for accept in (CSV, JSON, RECORDS, ARROW, ROWS)]
    arrow, sink = table.to_arrow(), io.BytesIO()
    pyarrow.parquet.write_table(arrow, sink, row_group_size=20)
    made.append((PARQUET, {}, sink.getvalue()))
    with pyarrow.ipc.new_file(sink := io.BytesIO(), arrow.schema) as writer:
        writer.write_table(arrow)
    made.append((ARROW, {}, sink.getvalue()))
    made += [(ARROW, {}, _arrow(arrow, compression=how)) for how in ("lz4", "zstd")]
    made.append((JSON, {}, b'{"a":[1,null,"NaN"],"c":["x","y",null],"d":["2020-01-01",3,null]}'))
    named = b'{"name":"c","type":"nominal","values":["x","y"]}'
    rows = b'{"columns":[{"name":"a"},%s,{"name":"d","type":"date"}],"rows":3}\n' % named
    made.append((ROWS, {}, rows + np.array([1, 0, 3.5, np.nan, 1, 4, 5, np.nan, 6]).tobytes()))
    made.append((CSV, {"content-encoding": "gzip"}, gzip.compress(made[0][2])))
    made.append((JSON, {"content-encoding": "zstd"}, zstandard.compress(made[1][2])))
    return made


def mutated(random, body, others):
    """The body with one to four damages."""
    body = bytearray(body)
    for _ in range(random.integers(1, 5)):
        at = int(random.integers(len(body) + 1))
        what = random.integers(7)
        if what == 0 and at < len(body):
            body[at] ^= 1 << int(random.integers(8))
        elif what == 1:
            body[at:at] = _ODD[random.integers(len(_ODD))]
        elif what == 2:
            odd = _ODD[random.integers(len(_ODD))]
            body[at : at + len(odd)] = odd
        elif what == 3:
            del body[at : at + int(random.integers(1, 40))]
        elif what == 4:
            body[at:at] = body[at : at + int(random.integers(1, 200))]
        elif what == 5:
            other = others[random.integers(len(others))]
            first = int(random.integers(len(other)))
            body[at:at] = other[first : first + int(random.integers(1, 100))]
        elif random.integers(4) == 0:
            del body[at:]
    return bytes(body)


def attempt(media_type, headers, body, size, as_blocks):
    """("", what the table holds), or (the refusal's code, ""). Anything but a refusal is raised."""
    parts = cut(body, size)
    try:
        if as_blocks:
            blocks(parts, media_type, _FEATURES, _LIMITS, headers, keep=["b"] if as_blocks == 2 else ())
            return "", ""
        table = whole(parts, media_type, ReadingOptions(), _LIMITS, headers)
    except Exception as error:  # whatever it is, it is looked at
        problem = problem_of(error)
        if problem.status >= 500 and problem.code != "out-of-memory":
            raise
        return problem.code, ""
    return "", _arrow(table.to_arrow())


def run(seed, seconds=None, times=None):
    """Try mutated bodies; return how often each outcome came."""
    random, outcomes, end = np.random.default_rng(seed), {}, time.monotonic() + (seconds or 1e9)
    given = seeds()
    bodies = [body for _, _, body in given]
    n = 0
    while n != times and time.monotonic() < end:
        media_type, headers, body = given[n % len(given)]
        made = structured(random, media_type, headers, body) if random.integers(2) else None
        body = mutated(random, body, bodies) if made is None else made
        size = [0, 0, 1, 7, 100][random.integers(5)]
        as_blocks = int(random.integers(3))
        try:
            outcome, held = attempt(media_type, headers, body, size, as_blocks)
            if size and not as_blocks:
                assert attempt(media_type, headers, body, 0, 0) == (outcome, held), "the parts of a body change it"
        except Exception:
            print(
                f"seed {seed}, body {n}: {media_type} {headers} parts of {size}, as_blocks={as_blocks}\n{body!r}",
                file=sys.stderr,
            )
            raise
        key = media_type.split(".")[-1], outcome
        outcomes[key] = outcomes.get(key, 0) + 1
        n += 1
    return outcomes


def test_damaged_bodies_of_every_format_are_tables_or_refusals():
    outcomes = run(seed=1, times=600)
    for media_type, _, _ in seeds():
        codes = {code for name, code in outcomes if name == media_type.split(".")[-1]}
        assert "" in codes and len(codes) > 1, f"{media_type}: damage is never seen, or always"


if __name__ == "__main__":
    found = run(seed=int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time()), seconds=float(sys.argv[1]))
    for key, count in sorted(found.items()):
        print(count, *key)
    print(sum(found.values()), "bodies")
