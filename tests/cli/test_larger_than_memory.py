"""Tables larger than the memory limit: the same bytes come out, and the limit is kept. The temporary file that holds
the values is gone afterwards, or its trouble is a clean error."""

import pathlib
import re
import subprocess
import time

import numpy as np
import pytest

import program
from program import run


def anonymous_peak(process):
    """Returns the most anonymous memory, in bytes, that a running process was seen to hold. (Pages of mapped files
    leave when the system wants them to.)"""
    peak = 0
    while process.poll() is None:
        try:
            found = re.search(r"RssAnon:\s+([0-9]+) kB", pathlib.Path(f"/proc/{process.pid}/status").read_text())
        except OSError:
            break
        if found:
            peak = max(peak, int(found.group(1)) * 1024)
        time.sleep(0.002)
    return peak


LARGER_THAN_MEMORY = {
    "knn": ["knn", "big.npy", "few.npy", "-k", 3],
    "knn, many queries": ["knn", "few.npy", "big.npy", "-k", 3],
    "radius": ["knn", "big.npy", "few.npy", "--radius", 0.9],
    "rapidminer": ["knn", "big.npy", "few.npy", "-k", 3, "--compat", "rapidminer"],
    "classify": ["classify", "big.csv", "few.csv", "--target", "y", "-k", 3, "--metric", "gower"],
    "classify, many queries": ["classify", "few.csv", "big.csv", "--target", "y", "--proba", "--normalize", "z"],
    "regress": ["regress", "big.csv", "few.csv", "--target", "a1", "--nominal", "y", "--normalize", "range"],
    "evaluate": ["evaluate", "big.csv", "--target", "y", "--holdout", 0.01, "--normalize", "interquartile",
                 "-o", "-"],
    "normalize": ["normalize", "big.csv", "--method", "proportion"],
    "stats": ["stats", "big.csv", "--by", "y", "-o", "-"],
    "correlation": ["stats", "big.csv", "--one-pass", "--correlation", "-"],
    "correlation of ranks": ["stats", "big.csv", "--one-pass", "--correlation", "-", "--method", "spearman"],
    "a chain": ["classify", "few.csv", "big.csv", "--target", "y", "--metric", "gower", "--after", "scale.stope"],
    "convert": ["convert", "big.csv", "-o", "-", "--output-format", "arff"],
    "pairwise": ["pairwise", "few.npy", "big.npy", "-k", 2],
}


@pytest.fixture(scope="module")
def larger_than_memory(tmp_path_factory):
    """Makes big.npy and big.csv, which take 40 MB as tables, and few.*, which take some kilobytes."""
    folder = tmp_path_factory.mktemp("larger")
    random = np.random.default_rng(9)
    big = random.random(size=(200000, 25))
    np.save(folder / "big.npy", big)
    np.save(folder / "few.npy", big[::5000] + 0.01)
    head = ",".join(f"a{i}" for i in range(1, 26)) + ",c,y\n"
    rows = ["%s,%s,%s\n" % (",".join("%.3f" % v for v in row), "uvw"[i % 3], "pq"[int(row[0] > .5)])
            for i, row in enumerate(big)]
    (folder / "big.csv").write_text(head + "".join(rows))
    (folder / "few.csv").write_text(head + "".join(rows[::5000]))
    program.run("normalize", "few.csv", "--method", "z", "--target", "y", "--model-out", "scale.stope", "-o", "few-scaled.csv",
                cwd=folder)
    return folder


@pytest.mark.parametrize("job", LARGER_THAN_MEMORY)
def test_tables_larger_than_the_memory_limit(larger_than_memory, tmp_path, job):
    """A quarter of the table's size is enough to work in, and that limit is kept. The same bytes come out, and the
    temporary file is gone afterwards."""
    limit = 10_000_000
    command = [program.PROGRAM, *map(str, LARGER_THAN_MEMORY[job]), "--progress", "no"]
    environment = program.environment({"TMPDIR": str(tmp_path)})
    want = subprocess.run(command, cwd=larger_than_memory, env=environment, capture_output=True, check=True)
    process = subprocess.Popen([*command, "--memory-limit", str(limit)], cwd=larger_than_memory, env=environment,
                               stdout=(tmp_path / "out").open("wb"), stderr=subprocess.PIPE)
    peak = anonymous_peak(process)
    error = process.stderr.read().decode()
    assert process.returncode == 0, error
    assert (tmp_path / "out").read_bytes() == want.stdout
    assert "no scores" in error or error == want.stderr.decode()
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    assert peak < limit + 64_000_000


def test_the_report_says_where_a_table_is(larger_than_memory):
    wide = run("info", "big.npy", "--json", cwd=larger_than_memory).json()["inputs"][0]
    assert wide["bytes"] == wide["bytes_in_memory"] == 40_000_000
    tight = run("info", "big.npy", "--json", "--memory-limit", "10MB", cwd=larger_than_memory).json()["inputs"][0]
    assert (tight["bytes"], tight["bytes_in_memory"]) == (40_000_000, 0)
    assert "40 MB in a temporary file" in run("info", "big.npy", "--memory-limit", "10MB", cwd=larger_than_memory).text


def test_no_temporary_folder(larger_than_memory, tmp_path):
    done = run("info", "big.npy", "--memory-limit", "10MB", cwd=larger_than_memory, code=3,
               env={"TMPDIR": str(tmp_path / "nowhere")})
    assert "nowhere" in done.err and "TMPDIR" in done.err


def test_every_file_operation_fails_once(larger_than_memory, tmp_path):
    failed = []
    for n in range(1, 20):
        done = run("info", "big.npy", "--memory-limit", "10MB", cwd=larger_than_memory, code=None,
                   env={"STOPE_FAULT_IO": str(n), "TMPDIR": str(tmp_path)})
        assert not list(tmp_path.iterdir())
        if done.code == 0:
            break
        assert done.code == 3
        failed.append(done.err)
    assert any("create a temporary file" in e for e in failed) and any("reserve 40001600 bytes" in e for e in failed)
