"""--explain says why --device auto took the device, in every job. The *_fake_test.cpp test what GPUs change in it."""

import re

import numpy as np
import pytest
from program import run, write_csv, write_matrix

NOWHERE = {"STOPE_CUDA_PLUGIN": "/nowhere/libstope_cuda.so"}
SHORT = re.compile(r"(under 1|about \d+) ms on the CPU; a GPU's driver alone takes 210 ms to start")

JOBS = {
    "knn": ["knn", "t.csv", "t.csv", "--ignore", "y"],
    "classify": ["classify", "t.csv", "t.csv", "--target", "y"],
    "stats": ["stats", "t.csv"],
    "best cuts": ["discretize", "t.csv", "--target", "y", "--method", "best-cut"],
    "mdlp": ["discretize", "t.csv", "--target", "y", "--method", "mdlp", "--cuts-out", "c.json"],
    "global cuts": ["discretize", "t.csv", "--target", "y", "--method", "md-global", "--cuts-out", "c.json"],
    "tree": ["tree", "t.csv", "--target", "y"],
    "local cuts": ["discretize", "t.csv", "--target", "y", "--method", "md-local", "--cuts-out", "c.json"],
    "gram": ["ata", "a.gram", "-o", "b"],
    "least squares": ["lsq", "n.csv", "--target", "y"],
}
NOT_FOR_GPUS = {
    "matrices of distances": ["pairwise", "t.csv", "t.csv", "--ignore", "y"],
    "GPUs find no sets of cuts": ["discretize", "t.csv", "--target", "y", "--method", "chimerge", "--cuts-out", "c.json"],
    "permutations by discernibility only": ["discretize", "t.csv", "--target", "y", "--method", "best-cut", "--criterion", "gini",
                                            "--permutations", "9"],
    "block Lanczos only": ["pca", "n.csv", "--ignore", "y"],
    "do not count nominal values": ["stats", "y.csv"],
}


@pytest.fixture
def box(tmp_path):
    x = np.random.default_rng(1).normal(size=(40, 3))
    write_matrix(tmp_path / "t.csv", x, y=["a" if row[0] + row[1] > 0 else "b" for row in x])
    write_matrix(tmp_path / "n.csv", x, y=x[:, 0] + 1)
    write_csv(tmp_path / "y.csv", {"y": ["a", "b", "a"]})
    run("gen", 20, 30, "-o", "a.gram", cwd=tmp_path)
    return tmp_path


def device_line(words, box, *more):
    err = run(*words, "--explain", *more, cwd=box, env=NOWHERE).err
    lines = [line for line in err.splitlines() if line.startswith("device ")]
    assert len(lines) <= 1, err
    return lines[0].removeprefix("device").strip() if lines else None


@pytest.mark.parametrize("job", JOBS)
def test_a_short_job_says_that_it_is_too_short(box, job):
    said = device_line(JOBS[job], box)
    assert said.startswith("auto: ") and SHORT.search(said), said
    assert device_line(JOBS[job], box, "--device", "cpu") is None


@pytest.mark.parametrize("why", NOT_FOR_GPUS)
def test_a_job_that_gpus_do_not_do_says_so(box, why):
    said = device_line(NOT_FOR_GPUS[why], box)
    assert said.startswith("auto: ") and why in said, said


def test_a_long_job_says_why_there_is_no_gpu(tmp_path):
    x = np.random.default_rng(2).uniform(1, 2, size=(2000, 10))
    path = write_matrix(tmp_path / "t.csv", x)
    words = ["knn", path, path, "--metric", "kl", "-j", 1, "-o", tmp_path / "o.csv"]
    assert "auto: CUDA is off: the plug-in cannot be loaded: /nowhere" in device_line(words, tmp_path)


def test_json_has_it_as_well(box):
    plan = run(*JOBS["classify"], "--json", cwd=box).json()["plan"]
    assert plan["device_reason"].startswith("auto: ") and plan["reason"]
    plan = run("pca", "n.csv", "--ignore", "y", "--json", cwd=box).json()["plan"]
    assert plan["method"] == "covariance" and plan["method_reason"] and plan["reason"] == ""
