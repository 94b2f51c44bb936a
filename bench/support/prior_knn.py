"""Works 000 and 003 of bench/prior_works.py: k-NN on GPUs, from tables in memory to the answer in memory, and from
files to files.

  work 000   k-NN plug-in for RapidMiner (2011-12; GeForce GTX 480 and GT 335M), times of its whole operator
  work 003   k-NN in CUDA (2014), one query after another

"Not overlapped" means STOPE_BLOCKS_UNDER_WAY=1, so that no block of queries is prepared or handed on while the GPU
works on another. It also means CUDA_LAUNCH_BLOCKING=1: the driver returns from a launch when it is done, so that no
copy overlaps with it.
"""
import hashlib
import json
import os
import pathlib
import subprocess
import tempfile
import time

from bench.support.prior_work import Work, plugin, show

SIZES = (1_000, 5_000, 10_000, 50_000, 100_000)
ATTRIBUTES = (10, 30, 50, 70, 90, 110, 130, 150, 170)
GTX480, GT335M = "GTX 480", "GT 335M"
QUERIES = (500_000, 1_000_000, 3_000_000)
POINTS = (512_000, 768_000, 1_000_000)

# Milliseconds as the works print them: table -> line of the plot -> size -> time.
THEIRS = {
    "000 table 6": {
        "its best kernel, " + GTX480: dict(zip(ATTRIBUTES, (31, 44, 69, 82, 95, 107, 133, 145, 158))),
        "Garcia's, " + GTX480: dict(zip(ATTRIBUTES, (33, 47, 85, 105, 126, 146, 185, 205, 226))),
    },
    "000 tables 7 and 9": {
        "no check for missing values, " + GT335M: dict(zip(SIZES[1:], (282, 770, 16_689, 66_904))),
        "with the check, " + GT335M: dict(zip(SIZES[1:], (311, 910, 24_690, 98_756))),
        "asynchronous, " + GT335M: dict(zip(SIZES[1:], (235, 726, 16_018, 62_900))),
    },
    "000 tables 8 and 10": {
        "no check for missing values, " + GT335M: dict(zip(SIZES[1:], (245, 961, 26_540, 91_468))),
        "with the check, " + GT335M: dict(zip(SIZES[1:], (305, 998, 28_482, 101_305))),
        "synchronous (table 10), " + GT335M: dict(zip(SIZES[1:], (245, 998, 26_864, 91_468))),
        "asynchronous, " + GT335M: dict(zip(SIZES[1:], (232, 908, 20_112, 76_632))),
    },
    "000 tables 12 and 13": {
        GTX480: dict(zip(SIZES, (306, 822, 1_673, 8_100, 20_650))),
        "RapidMiner, Q8400": dict(zip(SIZES, (1_000, 11_000, 62_000, 1_334_000, 3_533_000))),
        GT335M: dict(zip(SIZES, (73, 188, 908, 27_702, 81_138))),
        "RapidMiner, i5-450M": dict(zip(SIZES, (0, 1_000, 54_000, 1_452_000, 4_198_000))),
    },
    "000 table 14": {"work 000": dict(zip(QUERIES, (51_600, 97_400, 439_100)))},
    "003": {},
}
NOTES = {
    "000 table 6": "distance matrix of 10,000 x 10,000, euclidean. Theirs stays on the GPU; ours is handed to the caller as doubles,"
                   " and the k-NN search (k 10) of the same pairs, the whole operator, needs none",
    "000 tables 7 and 9": "n training x n test rows, euclidean, 50 attributes (the works do not give their number), k 10, the whole operator",
    "000 tables 8 and 10": "n training x n test rows, mixed euclidean, 25 numeric and 25 nominal attributes, k 10, the whole operator",
    "000 tables 12 and 13": "n training x n test rows, mixed euclidean, 25 numeric and 25 nominal attributes, k 10, the whole operator",
    "000 table 14": "large test sets, 50 numeric attributes, against 10,000 training rows (the work does not give their number), k 10",
    "003": "one query after another, k 1; its figures are ratios: 8 to 11 times its serial program at 1,000 queries, and results that differ from"
           " the serial ones. 5 and 128 attributes (not given)",
}


def job(table, line, size, devices, name="classify", **words):
    return {"table": table, "line": line, "size": size, "devices": devices, "job": name, "words": words}


def jobs_of(work):
    gpu, cpu, waiting, serial = "gpu", "cpu", "gpu, not overlapped", "serial"
    if work == "003":
        return [job("003", f"{d} attributes, {n:,} points", n, (gpu, cpu, serial), "one-by-one", rows=n, queries=1000,
                    columns=d, k=1) for d in (5, 128) for n in POINTS]
    jobs = []
    for d in ATTRIBUTES:
        shape = {"rows": 10_000, "queries": 10_000, "columns": d}
        jobs += [job("000 table 6", "matrix", d, (gpu, cpu), "matrix", **shape),
                 job("000 table 6", "k-NN", d, (gpu, cpu), **shape)]
    for table, nominal in (("000 tables 7 and 9", 0), ("000 tables 8 and 10", 25)):
        for n in SIZES:
            for missing in (0.0, 0.05):
                line = "5 % missing" if missing else "nothing missing"
                jobs.append(job(table, line, n, (gpu, waiting, cpu), rows=n, queries=n, nominal=nominal, missing=missing))
    for m in QUERIES:
        jobs.append(job("000 table 14", "in memory", m, (gpu, waiting, cpu), rows=10_000, queries=m, data="decimals"))
    return jobs


def environment(build, device):
    extra = plugin(build)
    if device == "gpu, not overlapped":
        extra |= {"STOPE_BLOCKS_UNDER_WAY": "1", "CUDA_LAUNCH_BLOCKING": "1"}
    if device == "serial":
        extra["STOPE_BACKEND"] = "reference"
    return os.environ | extra


def words_of(case, device, seconds):
    words = dict(case["words"], seconds=seconds, device="cuda" if device.startswith("gpu") else "cpu")
    if device == "serial":
        words["threads"] = 1
    return case["job"] + "".join(f" {key}={value}" for key, value in words.items())


def run(build, device, cases, seconds, limit):
    """Runs all cases of a device in one process; cases that it does not reach within the limit have an error."""
    with tempfile.TemporaryFile("w+") as lines, tempfile.TemporaryFile("w+") as out:
        lines.write("".join(words_of(case, device, seconds) + "\n" for case in cases))
        lines.seek(0)
        ended = "its process ended"
        try:
            subprocess.run([build / "bench" / "prior_works_bench"], stdin=lines, stdout=out, timeout=limit,
                           env=environment(build, device), check=False)
        except subprocess.TimeoutExpired:
            ended = f"no answer within the {limit} s for all cases"
        out.seek(0)
        results = [json.loads(line) for line in out.read().splitlines() if line.endswith("}")]
    return results + [{"error": ended}] * (len(cases) - len(results))


def run_files(build, devices, folder, limit):
    """Runs table 14 with the command line, from CSV files to a file of predictions, including reading and writing."""
    rows = []
    for m in QUERIES:
        train, test = folder / "train.csv", folder / "test.csv"
        line = f"write rows=10000 queries={m} data=decimals train={train} test={test}\n"
        subprocess.run([build / "bench" / "prior_works_bench"], input=line, text=True, check=True, stdout=subprocess.DEVNULL)
        for device in devices:
            answer = folder / "answer.csv"
            command = [build / "cli" / "stope", "classify", train, test, "--target", "class", "-k", "10", "--device",
                       "cuda" if device == "gpu" else "cpu", "-o", answer, "--quiet"]
            times = []
            for _ in range(2):  # the first run also brings the file into the system's cache
                start = time.perf_counter()
                try:
                    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=limit,
                                          env=environment(build, device), check=False)
                except subprocess.TimeoutExpired:
                    times, done = [], None
                    break
                times.append(1e3 * (time.perf_counter() - start))
            result = {"milliseconds": times, "test_bytes": test.stat().st_size}
            if done is None or done.returncode != 0:
                result = {"error": f"no answer within {limit} s" if done is None else done.stderr.strip()[-300:]}
            else:
                result["answer"] = hashlib.sha256(answer.read_bytes()).hexdigest()[:16]
            rows.append({"table": "000 table 14", "line": "from file to file", "size": m, "device": device} | result)
    return rows


def plot_000(rows, machine):
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(3, 2, figsize=(13, 15))
    tables = [table for table in THEIRS if table.startswith("000")]
    axes.flat[-1].axis("off")
    for axis, table in zip(axes.flat, tables):
        for name, points in THEIRS[table].items():
            known = {size: ms for size, ms in points.items() if ms > 0}  # "0 s" means less than a second, so it is no point
            axis.plot(list(known), list(known.values()), linestyle="--", marker="x", label=name)
        lines = {}
        source = "000 tables 8 and 10" if table == "000 tables 12 and 13" else table
        for row in rows:
            if row["table"] == source and "median_ms" in row:
                lines.setdefault(f"stope, {row['device']}, {row['line']}", []).append((row["size"], row["median_ms"]))
        for name, points in lines.items():
            axis.plot(*zip(*sorted(points)), marker="o", markersize=4, label=name)
        axis.set_xscale("linear" if table == "000 table 6" else "log")
        axis.set_yscale("log")
        axis.set_title(table)
        axis.set_xlabel({"000 table 6": "attributes", "000 table 14": "test rows"}.get(table, "training rows = test rows"))
        axis.set_ylabel("milliseconds")
        axis.legend(fontsize=6)
    return figure, f"Work 000 (2011-12; dashed) and stope on {machine}: the same jobs, whole, on hardware a decade apart"


def plot_003(rows, machine):
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(1, 2, figsize=(13, 5))
    for axis, d in zip(axes, (5, 128)):
        for row in rows:
            if row.get("queries") and row["line"].startswith(f"{d} attributes"):
                name = f"{row['line'].split(', ')[1]}, {row['device']}"
                axis.plot(row["queries"], row["milliseconds"], marker="o", markersize=3, label=name)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_title(f"{d} attributes")
        axis.set_xlabel("queries, one after another")
        axis.set_ylabel("milliseconds for all of them")
        if axis.get_lines():
            axis.legend(fontsize=7)
    return figure, f"Work 003's job on {machine} (2014: 8 to 11 times its serial program at 1,000 queries, other answers)"


def measure(args, name, devices):
    seconds = args.seconds or {"000": 1.5, "003": 30.0}[name]
    cases = [case for case in jobs_of(name) if args.only in case["table"]]
    rows = []
    for device in ("gpu", "gpu, not overlapped", "cpu", "serial"):
        if ("gpu" if device.startswith("gpu") else "cpu") not in devices:
            continue
        mine = [case for case in cases if device in case["devices"]]
        rows += show([{key: case[key] for key in ("table", "line", "size", "words")} | result | {"device": device}
                      for case, result in zip(mine, run(args.build, device, mine, seconds, args.limit))])
    if name == "000" and args.only in "000 table 14" and not args.no_files:
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            rows += show(run_files(args.build, devices, pathlib.Path(folder), args.limit))
    return rows


def of(table_head, something):
    return {table: value for table, value in something.items() if table.startswith(table_head)}


WORKS = {name: Work(of(name, THEIRS), of(name, NOTES), measure, plot) for name, plot in (("000", plot_000), ("003", plot_003))}
