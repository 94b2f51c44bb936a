#!/usr/bin/env python3
"""Times the speed table of work 000 inside a real RapidMiner: its own k-NN operator, the extension's, and the C++ call
that the extension ends in (prior_works_bench, with RapidMiner's ties). Needs RAPIDMINER_HOME with the extension in
lib/plugins.

  RAPIDMINER_HOME=... python3 bench/rapidminer.py BUILD_FOLDER [--gpu] [--sizes 1000,5000,...] [--queries 500000,...] [--repeats N]
  python3 bench/rapidminer.py --binding CLASSPATH [...]

With --gpu the extension's operator also runs with its parameter device at "gpu": gpu_ms, gpu_learn_ms. Its answer must be
RapidMiner's, too.

The second line needs no RapidMiner: it times the same calls of the JVM binding, on the CPU and on the GPU, which must give
the same answer to the last bit. CLASSPATH holds the binding and the compiled BindingTable.java.

Every row of the result has the time of learning and applying together, the best of its repetitions: the JVM compiles
while the first ones run. RapidMiner's own
operator compares every pair, one after another: beyond PAIRS pairs it is timed with fewer test rows, and its time is
scaled ("scaled": true). The result goes to bench/results/rapidminer_<machine>_<date>.json.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from bench.support.machine import gpus, write_result  # noqa: E402

PAIRS = 30_000_000
SEED_TRAIN = 10_000  # training rows of the large test sets; the work does not give their number


def cases(args):
    for n in args.sizes:
        yield {"train": n, "test": n, "numeric": 25, "nominal": 25, "k": 10}
    for m in args.queries:
        yield {"train": SEED_TRAIN, "test": m, "numeric": 50, "nominal": 0, "k": 10}


def java(home, classes, heap, arguments):
    command = ["java", "--add-opens", "java.base/java.lang=ALL-UNNAMED", f"-Xmx{heap}", f"-Drapidminer.home={home}", "-cp",
               f"{classes}:{home}/lib/*", "SpeedTable", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        sys.exit(f"{' '.join(command)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return json.loads(lines[-1])


def timed(home, classes, operator, case, test, repeats, extra=()):
    found = java(home, classes, "8g", [operator, case["train"], test, case["numeric"], case["nominal"], case["k"], repeats, *extra])
    learn, apply = min(found["milliseconds"], key=sum)
    return {"learn_ms": learn, "apply_ms": apply, "ms": learn + apply, "repeats": len(found["milliseconds"]), "answer": found["answer"]}


def cpp(build, case, repeats):
    line = (f"classify rows={case['train']} queries={case['test']} columns={case['numeric'] + case['nominal']} nominal={case['nominal']}"
            f" k={case['k']} metric=mixed-euclidean compat=rapidminer device=cpu repeats={repeats}\n")
    done = subprocess.run([build / "bench" / "prior_works_bench"], input=line, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return {"ms": min([found["first_ms"], *found["milliseconds"]])}


def binding_row(classpath, case, repeats):
    """Learning and applying through the binding alone, on both devices."""
    row, answers = dict(case), set()
    for device, key in (("cpu", "cpu"), ("cuda", "gpu")):
        command = ["java", "-Xmx24g", "--add-opens=java.base/java.nio=ALL-UNNAMED", "-cp", classpath, "BindingTable", device,
                   *(str(case[name]) for name in ("train", "test", "numeric", "nominal", "k")), str(repeats)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stderr[-4000:]}")
        row |= both_times(json.loads(done.stdout), key)
        answers.add(row[f"{key}_answer"])
    if len(answers) != 1:
        sys.exit(f"{case}: the GPU's answer differs from the CPU's")
    return row


def both_times(found, key):
    learn, apply = min(found["milliseconds"], key=sum)
    return {f"{key}_learn_ms": learn, f"{key}_apply_ms": apply, f"{key}_repeats": len(found["milliseconds"]),
            f"{key}_method": found["report"]["method"], f"{key}_answer": found["answer"]}


def rapidminer_row(home, classes, args, case):
    """RapidMiner's own operator, the extension's, and the C++ call, which give one answer."""
    # The stope call and the operator in turn, so that a slow minute of the machine meets both.
    pairs = case["train"] * case["test"]
    repeats = 40 if pairs <= 1e6 else 10 if pairs <= 3e7 else args.repeats if pairs <= 3e9 else 0
    devices = ("cpu", "gpu") if args.gpu else ("cpu",)
    found = {device: timed(home, classes, "stope:k_nn", case, case["test"], repeats + 1, [f"device={device}"]) for device in devices}
    call = cpp(args.build, case, repeats)
    test = min(case["test"], PAIRS // case["train"])
    own = timed(home, classes, "k_nn", case, test, 1 if test * case["train"] > PAIRS // 10 else args.repeats)
    stope, answers = found["cpu"], {each["answer"] for each in found.values()}
    if len(answers) == 1 and test < case["test"]:
        answers = {timed(home, classes, "stope:k_nn", case, test, 1, [f"device={device}"])["answer"] for device in devices}
    if answers != {own["answer"]}:
        sys.exit(f"{case}: the extension's answer differs from RapidMiner's")
    scale = case["test"] / test
    own_ms = own["learn_ms"] + own["apply_ms"] * scale
    row = case | {"rapidminer_ms": own_ms, "scaled": scale > 1, "extension_ms": stope["ms"], "extension_learn_ms": stope["learn_ms"],
                  "cpp_ms": call["ms"], "over_cpp": stope["ms"] / call["ms"], "times_faster": own_ms / stope["ms"]}
    if args.gpu:
        gpu = found["gpu"]
        row |= {"gpu_ms": gpu["ms"], "gpu_learn_ms": gpu["learn_ms"], "gpu_times_faster": own_ms / gpu["ms"]}
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, nargs="?")
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--binding", metavar="CLASSPATH")
    parser.add_argument("--sizes", type=lambda text: [int(n) for n in text.split(",") if n], default=[1_000, 5_000, 10_000, 50_000, 100_000])
    parser.add_argument("--queries", type=lambda text: [int(n) for n in text.split(",") if n], default=[500_000, 1_000_000, 3_000_000])
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    if args.binding:
        rows = [binding_row(args.binding, case, args.repeats) for case in cases(args)]
        machine = next(iter(gpus()), None)
        print(write_result(ROOT / "bench" / "results", "rapidminer_binding", {"rows": rows}, machine))
        return
    if args.build is None:
        parser.error("the build folder is missing")
    home = os.environ.get("RAPIDMINER_HOME") or sys.exit("RAPIDMINER_HOME is not set")
    rows = []
    with tempfile.TemporaryDirectory() as classes:
        subprocess.run(["javac", "--release", "8", "-nowarn", "-cp", f"{home}/lib/*", "-d", classes,
                        ROOT / "bench" / "rapidminer" / "SpeedTable.java"], check=True, capture_output=True)
        for case in cases(args):
            rows.append(rapidminer_row(home, classes, args, case))
            print(json.dumps(rows[-1]), flush=True)
    machine = next(iter(gpus()), None) if args.gpu else None
    print(write_result(ROOT / "bench" / "results", "rapidminer", {"rows": rows}, machine))


if __name__ == "__main__":
    main()
