"""stope gen, ata and check: the sizes of the older work and odd ones, files that lie, and equal bytes everywhere."""

import os
import struct

import numpy as np
import pytest

import program
from program import run


def gram(path, matrix, vector):
    rows, columns = matrix.shape
    path.write_bytes(struct.pack("<iiq", columns, rows, 0) + matrix.astype("<f4").tobytes() + vector.astype("<f4").tobytes())
    return path


def read(path):
    data = path.read_bytes()
    columns, rows, zero = struct.unpack("<iiq", data[:16])
    assert zero == 0
    return columns, rows, np.frombuffer(data[16:], dtype="<f4")


SIZES = [(1, 1), (1, 700), (700, 1), (3, 5), (127, 129), (513, 1025), (512, 768), (1024, 1024), (1664, 1792), (1792, 1792),
         (12288, 1024), (20011, 33)]
LARGE = [(3584, 3584), (7168, 7168), (14336, 14336), (8960, 17920)]


@pytest.mark.parametrize("columns,rows", SIZES + (LARGE if os.environ.get("STOPE_LARGE") else []))
def test_gen_ata_check(tmp_path, columns, rows):
    run("gen", columns, rows, "-o", "a.gram", cwd=tmp_path)
    assert (tmp_path / "a.gram").stat().st_size == 16 + 4 * columns * (rows + 1)
    run("ata", "a.gram", "-o", "z.gram", cwd=tmp_path, timeout=600)
    assert (tmp_path / "z.gram").stat().st_size == 16 + 4 * columns
    done = run("check", "a.gram", "z.gram", cwd=tmp_path, timeout=600)
    assert "OK" in done.text and f"{columns} columns x {rows} rows" in done.text and "serial" in done.text


def test_ata_is_numpys(tmp_path):
    random = np.random.default_rng(1)
    a, x = random.normal(size=(301, 77)).astype("f4"), random.normal(size=77).astype("f4")
    gram(tmp_path / "a.gram", a, x)
    run("ata", "a.gram", "-o", "z.gram", cwd=tmp_path)
    columns, rows, z = read(tmp_path / "z.gram")
    wanted = a.astype("f8").T @ (a.astype("f8") @ x.astype("f8"))
    assert (columns, rows) == (77, 1) and np.allclose(z, wanted, rtol=1e-6)


def test_the_same_bytes_on_every_back_end(tmp_path):
    run("gen", 1025, 300, "-o", "a.gram", "--seed", 5, cwd=tmp_path)
    answers = set()
    for backend in program.backends():
        for threads in (1, 2):
            done = run("ata", "a.gram", "-j", threads, cwd=tmp_path, env={"STOPE_BACKEND": backend})
            answers.add(done.out)
    assert len(answers) == 1


def test_seeds(tmp_path):
    files = [run("gen", 100, 50, "--seed", seed).out for seed in (1, 1, 2)]
    assert files[0] == files[1] and files[0] != files[2]


def test_check_finds_a_wrong_number(tmp_path):
    run("gen", 40, 30, "-o", "a.gram", cwd=tmp_path)
    run("ata", "a.gram", "-o", "z.gram", cwd=tmp_path)
    data = bytearray((tmp_path / "z.gram").read_bytes())
    data[16 + 4 * 7 + 2] ^= 0x08
    (tmp_path / "z.gram").write_bytes(data)
    done = run("check", "a.gram", "z.gram", cwd=tmp_path, code=1)
    assert "WRONG   1 of 40" in done.text and "column 7" in done.text
    done = run("check", "a.gram", "z.gram", "--json", cwd=tmp_path, code=1)
    assert done.json()["check"]["wrong"] == 1 and not done.json()["check"]["ok"]


@pytest.mark.bad_input
@pytest.mark.parametrize("change,says", [
    (lambda d: d[:10], "needs 16 bytes"),
    (lambda d: d[:-1], "vector is cut off"),
    (lambda d: d[:16 + 4 * 4 * 2 + 3], "ends in row 2"),
    (lambda d: d + b"\0", "belong to nothing"),
    (lambda d: struct.pack("<i", -4) + d[4:], "-4 columns"),
    (lambda d: d[:4] + struct.pack("<i", 0) + d[8:], "0 rows"),
    (lambda d: d[:4] + struct.pack("<i", 2**31 - 1) + d[8:], "ends in row"),
    (lambda d: struct.pack("<ii", 2**31 - 1, 2**31 - 1) + d[8:], "ends in row 0"),
    (lambda d: d[:9] + b"\7" + d[10:], "byte 9 of the header"),
])
def test_files_that_lie(tmp_path, change, says):
    good = run("gen", 4, 5).out
    (tmp_path / "a.gram").write_bytes(change(good))
    done = run("ata", "a.gram", "-o", "z.gram", cwd=tmp_path, code=3)
    assert says in done.err and "a.gram" in done.err and len(done.error_lines()) == 1
    assert not (tmp_path / "z.gram").exists()


@pytest.mark.bad_input
def test_results_that_are_none(tmp_path):
    run("gen", 4, 5, "-o", "a.gram", cwd=tmp_path)
    run("gen", 5, 5, "-o", "b.gram", cwd=tmp_path)
    run("ata", "b.gram", "-o", "z.gram", cwd=tmp_path)
    assert "it cannot be its result" in run("check", "a.gram", "z.gram", cwd=tmp_path, code=3).err
    assert "has one row" in run("check", "a.gram", "b.gram", cwd=tmp_path, code=3).err
    (tmp_path / "cut.gram").write_bytes((tmp_path / "z.gram").read_bytes()[:-2])
    assert "ends in row 0" in run("check", "b.gram", "cut.gram", cwd=tmp_path, code=3).err


@pytest.mark.bad_input
@pytest.mark.parametrize("words,says", [
    (["0", "5"], "X (columns) 0"), (["5", "2147483648"], "Y (rows) 2147483648"), (["a", "5"], "'a'"),
    (["blobs", "5"], "number of rows is missing"), (["blob", "5", "5"], "did you mean 'blobs'"),
    (["5", "5", "--classes", "2"], "--classes applies only to tables"), (["linear", "5", "5", "--classes", "2"], "no number of classes"),
    (["blobs", "0", "5"], "0 columns"), (["mixed", "2", "5", "--missing-share", "1.5"], "below 1"),
])
def test_gen_refuses(words, says):
    done = run("gen", *words, code=2)
    assert says in done.err and done.out == b""


@pytest.mark.parametrize("kind", ["blobs", "mixed", "rules", "linear", "wide", "fvecs"])
def test_tables_can_be_read_again(tmp_path, kind):
    run("gen", kind, 5, 3000, "-o", "t.csv", "--seed", 3, cwd=tmp_path)
    info = run("info", "t.csv", "--json", cwd=tmp_path).json()
    assert program.find_key(info, "rows") == 3000
    assert run("gen", kind, 5, 3000, "--seed", 3, "-j", 1, cwd=tmp_path).out == (tmp_path / "t.csv").read_bytes()


def test_many_parts_are_one_table(tmp_path):
    """The file has more values than a part."""
    run("gen", "blobs", 3, 1200000, "-o", "t.npy", "--no-label", cwd=tmp_path)
    table = np.load(tmp_path / "t.npy")
    assert table.shape == (1200000, 3) and table.dtype == np.float32
    few = run("gen", "blobs", 3, 1200000, "--no-label", "--output-format", "raw", cwd=tmp_path).out
    assert few == table.tobytes()
