#!/usr/bin/env python3
"""The parts of scripts/soak.sh: each runs for its share of the time and returns figures, which become one JSON file.

  scripts/soak.py [MINUTES [FILE]]
  scripts/soak.py --moments N [FILE]
  scripts/soak.py --fuzz MINUTES [FILE]

The second form ends every command that writes files at N moments by each signal, however long that takes, and does
nothing else; its file is bench/results/moments_CPU_DATE.json. It needs build/release alone.
The third form fuzzes each target for MINUTES of CPU time, STOPE_JOBS targets at a time (default: the CPUs), and does
nothing else. FILE has every failure, and is written after each turn of ten minutes, and a run goes on where FILE ends. It needs build/asan alone.
"""

import concurrent.futures
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
RELEASE, ASAN = ROOT / "build" / "release", ROOT / "build" / "asan"
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "cli")]
from bench.support.machine import commit, result_path, write_file  # noqa: E402

SYMBOLIZER = "/usr/lib/llvm-19/bin/llvm-symbolizer"
SANITIZED = {"ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1", "UBSAN_OPTIONS": "print_stacktrace=1",
             "ASAN_SYMBOLIZER_PATH": SYMBOLIZER}

# Shares of the time. Leaks and large tests take the time that they need, which these shares estimate.
SHARES = {"fuzzing": 0.5, "bodies": 0.05, "moments": 0.15, "random_cases": 0.15, "leaks": 0.1, "large": 0.05}


def text_of(output):
    """What a program printed. Its reports name files, which are the same in every checkout from its folder on."""
    return (output or b"").decode("utf-8", "replace").replace(f"{ROOT}/", "")


def execute(words, seconds, **env):
    """Runs a program; returns (exit code, all it printed). It is ended after `seconds`, with code 124."""
    try:
        done = subprocess.run(list(map(str, words)), cwd=ROOT, env=os.environ | env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=seconds)
        return done.returncode, text_of(done.stdout)
    except subprocess.TimeoutExpired as slow:
        return 124, text_of(slow.stdout)


TURN_SECONDS = 600  # of one target, before the others have their turn


def fuzz_targets():
    """The built targets, with their seeds made anew, and a list of what failed in that."""
    targets = sorted(p for p in (ASAN / "fuzz").glob("*_fuzz") if os.access(p, os.X_OK))
    (ROOT / "build" / "fuzz-findings").mkdir(exist_ok=True)
    _, log = execute([sys.executable, ROOT / "scripts" / "fuzz_seeds.py"], 300)
    return targets, ([log] if log else []) + ([] if targets else ["no fuzz target is built"])


def fuzz(target, seconds, seed):
    """One target from its seeds and what earlier runs have found (build/fuzz-corpus): (figures, failures)."""
    name = target.name.removesuffix("_fuzz")
    corpus = ROOT / "build" / "fuzz-corpus" / target.name
    corpus.mkdir(parents=True, exist_ok=True)
    seeds = [p for p in (ROOT / "fuzz" / "corpus" / name, ROOT / "build" / "fuzz-seeds" / target.name) if p.is_dir()]
    words = [f"-dict={p}" for p in (ROOT / "fuzz" / "dictionaries").glob(f"{name}.dict")]
    words = ["timeout", str(seconds + 300), target, f"-max_total_time={seconds}", f"-seed={seed % 2**32}",
             f"-artifact_prefix={ROOT}/build/fuzz-findings/",
             "-rss_limit_mb=2048", "-timeout=20", "-max_len=6000", "-print_final_stats=1", *words, corpus, *seeds]
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(words, cwd=ROOT, env=os.environ | SANITIZED, stdout=output, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        code = process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        log = text_of(output.read())
    executions = re.search(r"stat::number_of_executed_units: +(\d+)", log)
    covered = re.findall(r"cov: (\d+) ft: (\d+) corp: (\d+)", log)
    edges, features, kept = map(int, covered[-1]) if covered else (0, 0, 0)
    figures = {"cpu_seconds": round(used.ru_utime + used.ru_stime, 1), "executions": int(executions[1]) if executions else 0,
               "edges": edges, "features": features, "corpus": kept}
    return figures, [f"{target.name}: exit {code}: {log[-2000:]}"] if code else []


def fuzzing(seconds, seed):
    """Every target in turn."""
    targets, failures = fuzz_targets()
    figures = {}
    for target in targets:
        figures[target.name], found = fuzz(target, max(2, int(seconds / len(targets))), seed)
        failures += found
    return {"targets": figures, "executions": sum(f["executions"] for f in figures.values()), "failures": failures}


def bodies(seconds, seed):
    """Damaged bodies of every format, as the server reads them (bindings/python/tests/serve/test_body_fuzz.py)."""
    package, tests = RELEASE / "python", ROOT / "bindings" / "python" / "tests"
    code, log = execute([sys.executable, "-m", "serve.test_body_fuzz", max(2, int(seconds)), seed], seconds + 300,
                        PYTHONPATH=f"{package}:{tests}")
    tried = re.search(r"^(\d+) bodies$", log, re.MULTILINE)
    return {"bodies": int(tried[1]) if tried else 0, "failures": [log[-4000:]] if code else []}


def moments(seconds, seed):
    """kill -9, SIGINT, SIGTERM and SIGHUP at random moments of every command that writes files (tests/cli/moments.py)."""
    import moments as tests
    return tests.soak(seconds, seed)


def random_cases(seconds, seed):
    """Random tables on which every fast path must return the reference's bits."""
    n, cases, failures, began = 2000, 0, [], time.monotonic()
    while time.monotonic() - began < seconds and not failures:
        first = seed + cases
        code, log = execute([RELEASE / "tests" / "knn_test", "--gtest_filter=FilterProperty.EveryFast*"], seconds + 600,
                            STOPE_SEED=str(first), STOPE_CASES=str(n))
        cases += n
        if code != 0:
            failures.append(f"STOPE_SEED={first} STOPE_CASES={n}: {log[-2000:]}")
    return {"cases": cases, "first_seed": seed, "failures": failures}


def leaks(seconds, seed):
    """Every command that writes files under LeakSanitizer, then every job with failing allocations, as often as time allows."""
    from writers import JOBS
    failures, runs, began = [], 0, time.monotonic()
    files = RELEASE / "libstope_files.so"  # a build with a sanitizer has no plug-in of its own
    plugin = {"STOPE_FILES_PLUGIN": str(files)} if files.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        make = "import sys; sys.path.insert(0, 'tests/cli'); import writers; writers.make_inputs(sys.argv[1])"
        code, log = execute([sys.executable, "-c", make, folder], 300, STOPE_BIN=str(RELEASE / "cli" / "stope"))
        failures += [log[-2000:]] if code else []
        for name, (args, _) in JOBS.items():
            done = subprocess.run([ASAN / "cli" / "stope", *map(str, args)], cwd=folder, env=os.environ | SANITIZED | plugin,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            runs += 1
            if done.returncode != 0:
                failures.append(f"{name}: exit {done.returncode}: {text_of(done.stdout)[-2000:]}")
    repetitions = 0
    while time.monotonic() - began < seconds and not failures:
        code, log = execute([ASAN / "tests" / "alloc_fault_test", f"--gtest_random_seed={seed % 99999}", "--gtest_shuffle"], 3600, **SANITIZED)
        repetitions += 1
        if code != 0:
            failures.append(f"alloc_fault_test: exit {code}: {log[-2000:]}")
    return {"commands": runs, "rounds_of_failing_allocations": repetitions, "failures": failures}


def large(_, seed):
    """Tests of sizes that take minutes or gigabytes, and all floats printed and read."""
    code, log = execute([sys.executable, "-m", "pytest", "-q", "-rs", "tests/cli/test_large.py", "tests/cli/test_gram.py", "-k",
                         "than_31_bits or than_32_bits or gen_ata_check"], 3600, STOPE_LARGE="1", STOPE_BIN=str(RELEASE / "cli" / "stope"))
    count = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|skipped)", log)}
    floats, text = execute([RELEASE / "tests" / "io_test", "--gtest_filter=Number.EveryFloat*"], 7200, STOPE_LARGE="1")
    return {"tests": count, "every_float": "passed" if floats == 0 and "[  PASSED  ] 1 test" in text else "failed",
            "failures": ([log[-3000:]] if code else []) + ([text[-3000:]] if floats else [])}


def all_moments(n_moments, seed):
    """kill -9, SIGINT, SIGTERM and SIGHUP at `n_moments` moments each of every command that writes files."""
    import moments as tests
    return tests.soak(math.inf, seed, n_moments)


def fuzz_each(minutes, seed, path):
    """Fuzzes each target for `minutes` of CPU time, in turns, and writes FILE after each turn; returns the exit code."""
    before = json.loads(path.read_text()) if path.exists() else {"runs": [], "targets": {}, "failures": []}
    targets, failures = fuzz_targets()
    done = {t.name: before["targets"].get(t.name, {"cpu_seconds": 0.0, "executions": 0}) for t in targets}
    result = {"runs": [*before["runs"], {"commit": commit(), "seed": seed}], "targets": done}
    writing = threading.Lock()

    def missing(target):
        return math.ceil(60 * minutes - done[target.name]["cpu_seconds"])

    def one_turn(target):
        if missing(target) > 0:
            figures, found = fuzz(target, max(2, min(TURN_SECONDS, missing(target))), seed + int(done[target.name]["cpu_seconds"]))
            done[target.name] = figures | {name: round(done[target.name][name] + figures[name], 1) for name in ("cpu_seconds", "executions")}
            failures.extend(found)
            with writing:
                write_file(path, "fuzz", result | {"executions": sum(t["executions"] for t in done.values()),
                                                   "failures": before["failures"] + failures})
            print(f"{target.name}: {done[target.name]}", *(failure[:1000] for failure in found), sep="\n    ", flush=True)

    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("STOPE_JOBS", os.cpu_count()))) as pool:
        while not failures and any(missing(t) > 0 for t in targets):
            turns = sorted(targets, key=missing, reverse=True)  # a run that goes on begins with those that had least
            list(pool.map(one_turn, turns))  # so that an exception comes out
    print(path)
    return 1 if failures else 0


def main():
    words = sys.argv[1:]
    seed = int(os.environ.get("STOPE_SEED", time.time()))
    os.environ.setdefault("STOPE_BIN", str(RELEASE / "cli" / "stope"))
    if words[:1] == ["--fuzz"]:
        return fuzz_each(float(words[1]), seed, pathlib.Path(words[2]) if words[2:] else result_path(ROOT / "bench" / "results", "fuzz"))
    if words[:1] == ["--moments"]:
        name, head, work = "moments", {"moments": int(words[1])}, [(all_moments, int(words[1]))]
        words = words[2:]
    else:
        name, head = "soak", {"minutes": float(words[0]) if words else 60.0}
        work = [(part, 60 * head["minutes"] * SHARES[part.__name__])
                for part in (fuzzing, bodies, moments, random_cases, leaks, large)]
        words = words[1:]
    path = pathlib.Path(words[0]) if words else result_path(ROOT / "bench" / "results", name)
    result = head | {"seed": seed, "parts": {}}
    failed = 0
    for part, amount in work:
        began = time.monotonic()
        figures = part(amount, seed)
        figures["seconds"] = round(time.monotonic() - began, 1)
        result["parts"][part.__name__] = figures
        failed += len(figures["failures"])
        result["failed"] = failed
        write_file(path, name, result)
        print(f"{part.__name__}: {figures['seconds']} s, {len(figures['failures'])} failed", flush=True)
        for failure in figures["failures"][:5]:
            print("    " + failure[:1000])
    print(path)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
