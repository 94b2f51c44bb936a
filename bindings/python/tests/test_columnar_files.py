"""Parquet and Arrow files: by the plug-in where it is, else by pyarrow, else refused with what to install."""

import os
import subprocess
import sys

import numpy as np
import pytest

import stope
from stope import _columnar_files, _core

pyarrow = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
ROWS = {"x": [1.5, None, -0.0], "c": ["b", None, "a"], "w": [1.0, 2.0, 3.0]}


@pytest.fixture(params=["as it is", "by pyarrow"])
def way(request, monkeypatch):
    """The tests run with the plug-in, where there is one, and without it."""
    if request.param == "by pyarrow":
        monkeypatch.setattr(_columnar_files, "by_pyarrow", _columnar_files._format)
        monkeypatch.setattr("stope.io.by_pyarrow", _columnar_files._format)
    return request.param


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "arrows", "feather"])
def test_a_table_comes_back_as_it_was_written(tmp_path, way, suffix):
    path = tmp_path / f"t.{suffix}"
    stope.write_table(stope.Table.from_arrow(pyarrow.table(ROWS)), path)
    table = stope.read_table(path)
    assert table.columns == ["x", "c", "w"] and table.to_arrow()["c"].to_pylist() == ["b", None, "a"]
    assert np.array_equal(np.asarray(table["x"]), [1.5, np.nan, -0.0], equal_nan=True)
    assert os.listdir(tmp_path) == [path.name]


def test_roles_and_ignored_columns_are_as_for_other_formats(tmp_path, way):
    pq.write_table(pyarrow.table(ROWS), tmp_path / "t.parquet")
    table = stope.read_table(tmp_path / "t.parquet", target="c", sample_weight="3", ignore=["1"])
    assert table.roles == {"c": "label", "w": "weight"}
    with pytest.raises(stope.errors.InvalidDataError, match="no column 'q'"):
        stope.read_table(tmp_path / "t.parquet", ignore="q")


def test_what_is_no_parquet_is_refused(tmp_path, way):
    (tmp_path / "t.parquet").write_bytes(b"x,y\n1,2\n3,4\n5,6\n")
    with pytest.raises(stope.errors.InvalidDataError, match="t.parquet"):
        stope.read_table(tmp_path / "t.parquet")


@pytest.mark.skipif(_core.files_available(), reason="the plug-in is there")
def test_without_pyarrow_too_the_message_says_what_to_install(tmp_path):
    pq.write_table(pyarrow.table(ROWS), tmp_path / "t.parquet")
    code = ("import sys; sys.modules['pyarrow'] = None; import stope\n"
            f"try: stope.read_table({str(tmp_path / 't.parquet')!r})\n"
            "except stope.errors.UnsupportedError as error: print(error)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install pyarrow" in done.stdout, done.stderr
