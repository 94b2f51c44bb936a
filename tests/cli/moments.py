"""Ends commands at chosen moments, by a signal, and looks at what they leave. tests/cli/test_moments.py tries a few moments,
`make soak` hundreds. `python tests/cli/moments.py SECONDS [SEED [MOMENTS]]` writes what it found as JSON."""

import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import program
from writers import JOBS, make_inputs

OLD = b"old\n"
PROMISED = 0.5  # seconds from a signal to the end

# Rows of the inputs: each job then takes some tenths of a second. Searches cost the square of the rows.
FEW = {"report": 3_000, "pairwise": 2_000, "chain": 60}
SEARCHES = dict.fromkeys(["classify", "regress", "knn", "evaluate", "impute", "predict"], 20_000)
MANY = 100_000


class Scene:
    """A job, a folder with its inputs, its right outputs, and how long it takes."""

    def __init__(self, name, folder):
        self.name, self.folder = name, pathlib.Path(folder)
        rows = (FEW | SEARCHES).get(name, MANY)
        make_inputs(self.folder, rows)
        args, self.outputs = JOBS[name]
        self.args = [rows if word == 60 else word for word in args]
        self.inputs = {path.name: path.read_bytes() for path in self.folder.iterdir()}
        began = time.monotonic()
        program.run(*self.args, cwd=self.folder)
        self.seconds = time.monotonic() - began
        self.want = {o: (self.folder / o).read_bytes() for o in self.outputs}

    def end(self, moment, how):
        """Ends the job with signal `how` after `moment` seconds. Returns (exit code, seconds it then took, what is wrong)."""
        for o in self.outputs:
            (self.folder / o).write_bytes(OLD)
        child = subprocess.Popen([program.PROGRAM, *map(str, self.args)], cwd=self.folder, env=program.environment(),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(moment)
        child.send_signal(how)
        began = time.monotonic()
        try:
            err = child.communicate(timeout=60)[1].decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            return None, 60.0, f"still runs 60 s after {how.name}"
        return child.returncode, time.monotonic() - began, self.fault(child.returncode, how, err)

    def fault(self, code, how, err):
        """What is wrong with what the job left, or None."""
        killed = how == signal.SIGKILL
        # Before main() takes the signals over, they do what they do to every program.
        if code not in (0, -int(how)) + (() if killed else (130,)):
            return f"exit {code}: {err[-300:]}"
        after = {path.name: path.read_bytes() for path in self.folder.iterdir()}
        temporary = {n for n in after if n.startswith(".stope-") and n.endswith(".tmp")}
        for n in temporary:
            (self.folder / n).unlink()
        if temporary and not killed:
            return f"{len(temporary)} temporary files stay"
        if set(after) - temporary != set(self.inputs) | set(self.outputs):
            return f"files: {sorted(after)}"
        if any(after[n] != content for n, content in self.inputs.items()):
            return "an input has changed"
        if any(after[o] not in (OLD, self.want[o]) for o in self.outputs):
            return "an output is neither old nor complete"
        if code == 0 and any(after[o] != self.want[o] for o in self.outputs):
            return "exit 0, but an output is old"
        return None


SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def attack(name, folder, until, seed, n_moments):
    """Ends one job by every signal at moments that cover its whole run evenly, in a random order, until the time is over.
    Returns figures by signal, and failures."""
    scene, rng = Scene(name, folder), random.Random(f"{seed} {name}")
    orders = {how: rng.sample(range(n_moments), n_moments) for how in SIGNALS}
    figures = {how.name: {"moments": 0, "ended_early": 0, "later_than_promised": 0, "slowest_stop": 0.0} for how in SIGNALS}
    failures = []
    for i in range(n_moments):
        if i > 0 and time.monotonic() > until:  # every signal once, at least
            break
        for how in SIGNALS:
            moment = (orders[how][i] + rng.random()) / n_moments * scene.seconds
            code, took, wrong = scene.end(moment, how)
            entry = figures[how.name]
            entry["moments"] += 1
            entry["ended_early"] += code != 0
            if how != signal.SIGKILL:
                entry["later_than_promised"] += took > PROMISED
                entry["slowest_stop"] = max(entry["slowest_stop"], round(took, 4))
            if wrong:
                failures.append(f"{name}, {how.name} after {moment:.4f} s: {wrong}")
    return {"seconds_of_a_run": round(scene.seconds, 3), "signals": figures}, failures


def soak(seconds, seed, n_moments=200):
    """Attacks every job for a time, and no longer than until each signal has had its moments. Returns figures."""
    program.attend_signals()
    began = time.monotonic()
    figures = {"seed": seed, "moments_wanted": n_moments, "failures": [], "jobs": {}}
    with tempfile.TemporaryDirectory() as top, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        rounds = -(-len(JOBS) // os.cpu_count())

        def one(number, name):
            folder = pathlib.Path(top) / str(number)
            folder.mkdir()
            until = began + seconds * (number // os.cpu_count() + 1) / rounds
            return attack(name, folder, until, seed, n_moments)

        for name, (entry, failures) in zip(JOBS, pool.map(one, range(len(JOBS)), JOBS)):
            figures["jobs"][name] = entry
            figures["failures"] += failures
    every = [(name, how, one) for name, job in figures["jobs"].items() for how, one in job["signals"].items()]
    figures["moments_of_kill_9"] = sum(one["moments"] for _, how, one in every if how == "SIGKILL")
    figures["moments_of_signals"] = sum(one["moments"] for _, how, one in every if how != "SIGKILL")
    figures["fewest_moments"] = min(one["moments"] for _, _, one in every)
    figures["later_than_promised"] = sum(one["later_than_promised"] for _, _, one in every)
    slowest = max(every, key=lambda found: found[2]["slowest_stop"])
    figures["slowest_stop"] = {"job": slowest[0], "signal": slowest[1], "seconds": slowest[2]["slowest_stop"]}
    figures["seconds"] = round(time.monotonic() - began, 1)
    return figures


if __name__ == "__main__":
    shutil.which(program.PROGRAM) or sys.exit(f"no program at {program.PROGRAM}")
    found = soak(float(sys.argv[1]), *map(int, sys.argv[2:4] or [1]))
    print(json.dumps(found, indent=1))
    sys.exit(1 if found["failures"] else 0)
