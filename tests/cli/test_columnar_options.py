"""Options and schemas for Parquet and Arrow: names, roles, columns left out, memory, and outputs that fail."""

import json
import os

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from program import run

FILES = json.loads(run("device", "--json").text)["files"]
pytestmark = pytest.mark.skipif(not FILES["available"], reason=FILES["reason"])

TABLE = pa.table({"x": [1.0, 2.0, 3.0], "y": ["a", "b", "a"], "n": [7, 8, 9], "w": [1.0, 0.5, 2.0]})


@pytest.fixture(params=["parquet", "arrow"])
def path(request, tmp_path):
    return write(TABLE, tmp_path / f"t.{request.param}")


def write(table, path):
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    return path


def columns(path, *options):
    found = run("info", path, "--json", *options).json()["columns"]
    return {column["name"]: (column["type"], column["role"]) for column in found}


def schema(tmp_path, *specs):
    (tmp_path / "s.json").write_text(json.dumps({"columns": [dict(zip(("name", "type", "role"), spec)) for spec in specs]}))
    return tmp_path / "s.json"


def test_names_replace_those_of_the_file(path):
    assert list(columns(path, "--names", "p,q,r,s")) == ["p", "q", "r", "s"]
    assert columns(path, "--names", "p,q,r,s", "--ignore", "r,2", "--nominal", "p") == {
        "p": ("polynominal", "regular"), "s": ("real", "regular")}
    assert "2 names are given, the file has 4 columns" in run("info", path, "--names", "p,q", code=2).err


def test_roles_are_taken_by_name_and_by_number(path):
    wanted = {"x": ("real", "regular"), "y": ("polynominal", "label"), "n": ("integer", "id"), "w": ("real", "weight")}
    assert columns(path, "--target", "y", "--id", "n", "--sample-weight", "w") == wanted
    assert columns(path, "--target", 2, "--id", 3, "--sample-weight", 4) == wanted


@pytest.mark.parametrize("role", ["target", "id", "sample-weight"])
def test_a_column_with_a_role_cannot_be_left_out(path, role):
    error = run("info", path, f"--{role}", "n", "--ignore", "3", code=2).err
    assert error.count("\n") == 1 and f"column '3' is named by both {role.replace('-', '_')} and ignore" in error


def test_a_schema_leaves_columns_out_unless_an_option_wants_them(path, tmp_path):
    given = schema(tmp_path, ("x", "real", "regular"), ("y", "nominal", "label"), ("n", "integer", "ignore"), ("w", "real", "ignore"))
    assert list(columns(path, "--schema", given)) == ["x", "y"]
    assert columns(path, "--schema", given, "--id", "n")["n"] == ("integer", "id")
    assert list(columns(path, "--schema", given, "--ignore", "y")) == ["x"]


def test_a_table_without_any_column_is_refused(path, tmp_path):
    assert "has no columns but ignored ones" in run("info", path, "--ignore", "1-4", code=3).err
    empty = write(pa.table({}), tmp_path / f"e{path.suffix}")
    assert "e" + path.suffix + ": has no columns\n" in run("info", empty, code=3).err


def test_columns_without_names_have_numbers(path, tmp_path):
    nameless = write(pa.table([pa.array([1.0]), pa.array([2.0])], names=["", "b"]), tmp_path / f"u{path.suffix}")
    assert list(columns(nameless)) == ["1", "b"]
    assert list(columns(nameless, "--ignore", "1")) == ["b"]


def test_columns_that_memory_does_not_hold_are_refused_before_their_values(tmp_path):
    wide = write(pa.table({f"c{i}": pa.array([], pa.float64()) for i in range(5000)}), tmp_path / "t.arrow")
    assert "its columns, without their values, need" in run("info", wide, "--memory-limit", "1MB", code=4).err


def test_parts_are_read_with_names_and_schemas(path, tmp_path):
    write(TABLE.slice(1), tmp_path / f"u{path.suffix}")
    both = str(tmp_path / f"*{path.suffix}")
    given = schema(tmp_path, ("x", "real", "regular"), ("y", "nominal", "label"), ("n", "integer", "ignore"), ("w", "real", "ignore"))
    done = run("info", both, "--schema", given, "--memory-limit", "200MB", "--json").json()
    assert done["rows"] == 5 and [c["name"] for c in done["columns"]] == ["x", "y"]
    assert list(columns(both, "--input-format", path.suffix[1:], "--ignore", "n,w")) == ["x", "y"]


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("target", ["/dev/full", "full"])
def test_a_disk_that_is_full_is_told_in_its_own_words(tmp_path, kind, target):
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{i}.5,v{i}\n" for i in range(40_000)))
    (tmp_path / "full").symlink_to("/dev/full")
    error = run("convert", tmp_path / "t.csv", target, "--output-format", kind, cwd=tmp_path, code=3).err
    assert error.count("\n") == 1 and "No space left on device" in error


def test_arrow_into_a_pipe_or_a_packed_stream_is_a_stream(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,a\n2,b\n")
    sent = run("convert", tmp_path / "t.csv", "-", "--output-format", "arrow").out
    assert pa.ipc.open_stream(sent).read_all().to_pydict() == {"x": [1, 2], "y": ["a", "b"]}
    read, write_end = os.pipe()
    run("convert", tmp_path / "t.csv", f"/proc/self/fd/{write_end}", "--output-format", "arrow", pass_fds=[write_end])
    os.close(write_end)
    with os.fdopen(read, "rb") as pipe:
        assert pipe.read() == sent
    for packed in ["t.arrows", "t.arrows.gz", "t.arrows.zst"]:
        run("convert", tmp_path / "t.csv", tmp_path / packed)
        assert run("convert", tmp_path / packed, "-").text == "x,y\n1,a\n2,b\n"
    assert (tmp_path / "t.arrows").read_bytes() == sent


def test_an_arrow_file_beyond_the_limit_is_written_in_batches(tmp_path):
    (tmp_path / "t.csv").write_text("x\n" + "".join(f"{i}\n" for i in range(1_200_000)))
    run("convert", tmp_path / "t.csv", tmp_path / "t.arrow", "--memory-limit", "20MB")
    with pa.ipc.open_file(tmp_path / "t.arrow") as file:
        assert [file.get_batch(i).num_rows for i in range(file.num_record_batches)] == [1 << 20, 1_200_000 - (1 << 20)]
