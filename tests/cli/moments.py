"""Ends commands at chosen moments, by a signal, and looks at what they leave. tests/cli/test_moments.py tries a few moments,
`make soak` as many as its time allows, and `scripts/soak.py --moments 200` 200 of each signal for each command."""

import concurrent.futures
import os
import pathlib
import random
import select
import signal
import subprocess
import tempfile
import time

import program
from writers import JOBS, make_inputs

OLD = b"old\n"
PROMISED = 0.5  # seconds from a signal to the end

# Rows of the inputs: each job then takes one or two tenths of a second. Searches cost the square of the rows.
FEW = {"report": 1_500, "pairwise": 2_000, "chain": 60, "convert": 40_000}
SEARCHES = dict.fromkeys(["classify", "regress", "knn", "evaluate", "impute", "predict"], 15_000)
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
        self.stamps = {name: self.stamp(name) for name in self.inputs}
        self.seconds = self.measure()
        self.want = {o: (self.folder / o).read_bytes() for o in self.outputs}

    def measure(self):
        """Lets the job run to its end; returns the seconds it took."""
        began = time.monotonic()
        program.run(*self.args, cwd=self.folder)
        return time.monotonic() - began

    def stamp(self, name):
        """What changes when a file is written or replaced."""
        found = (self.folder / name).stat()
        return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns

    def end(self, moment, how):
        """Ends the job with signal `how` after `moment` seconds. Returns (exit code, seconds it then took, what is wrong). The
        seconds are None if the job had ended before that moment: it got no signal, and `lasted` is the time it took."""
        for o in self.outputs:
            (self.folder / o).write_bytes(OLD)
        child = subprocess.Popen([program.PROGRAM, *map(str, self.args)], cwd=self.folder, env=program.environment(),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        began = time.monotonic()
        process = os.pidfd_open(child.pid)
        try:
            runs = not select.select([process], [], [], moment)[0]
        finally:
            os.close(process)
        if runs:
            child.send_signal(how)
        else:
            self.lasted = time.monotonic() - began
        began = time.monotonic()
        try:
            err = child.communicate(timeout=60)[1].decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            return None, 60.0, f"still runs 60 s after {how.name}"
        took = time.monotonic() - began
        return child.returncode, took if runs else None, self.fault(child.returncode, how, err)

    def fault(self, code, how, err):
        """What is wrong with what the job left, or None."""
        killed = how == signal.SIGKILL
        # Before main() takes the signals over, they do what they do to every program.
        if code not in (0, -int(how)) + (() if killed else (130,)):
            return f"exit {code}: {err[-300:]}"
        after = {path.name for path in self.folder.iterdir()}
        temporary = {n for n in after if n.startswith(".stope-") and n.endswith(".tmp")}
        for n in temporary:
            (self.folder / n).unlink()
        if temporary and not killed:
            return f"{len(temporary)} temporary files stay"
        if after - temporary != set(self.inputs) | set(self.outputs):
            return f"files: {sorted(after)}"
        if any(self.stamp(n) != stamp for n, stamp in self.stamps.items()):
            return "an input has changed"
        left = {o: (self.folder / o).read_bytes() for o in self.outputs}
        if any(left[o] not in (OLD, self.want[o]) for o in self.outputs):
            return "an output is neither old nor complete"
        if code == 0 and left != self.want:
            return "exit 0, but an output is old"
        return None

    def inputs_are_the_same(self):
        """Compares every byte of the inputs."""
        return all((self.folder / name).read_bytes() == content for name, content in self.inputs.items())


SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


TRIES = 20  # for one moment: after a job that ended before it, a little earlier in the time that this job took
ROUNDS_OF_A_MEASURE = 10  # the load of the machine changes, and with it the time of a run


def attack(name, folder, until, seed, n_moments):
    """Ends one job by every signal at moments that cover its whole run evenly, in a random order, until the time is over.
    Returns figures by signal, and failures. A moment counts if the job still ran when the signal was sent."""
    scene, rng = Scene(name, folder), random.Random(f"{seed} {name}")
    orders = {how: rng.sample(range(n_moments), n_moments) for how in SIGNALS}
    figures = {how.name: {"moments": 0, "ended_early": 0, "too_late": 0, "later_than_promised": 0, "slowest_stop": 0.0}
               for how in SIGNALS}
    failures = []
    for i in range(n_moments):
        if i > 0 and time.monotonic() > until:  # every signal once, at least
            break
        if i % ROUNDS_OF_A_MEASURE == ROUNDS_OF_A_MEASURE - 1:
            scene.seconds = scene.measure()
        for how in SIGNALS:
            share, seconds, entry = (orders[how][i] + rng.random()) / n_moments, scene.seconds, figures[how.name]
            for _ in range(TRIES):
                moment = share * seconds
                code, took, wrong = scene.end(moment, how)
                if wrong:
                    failures.append(f"{name}, {how.name} after {moment:.4f} s: {wrong}")
                if took is not None:
                    break
                entry["too_late"] += 1
                seconds = 0.98 * scene.lasted
            else:
                continue
            entry["moments"] += 1
            entry["ended_early"] += code != 0
            if how != signal.SIGKILL:
                entry["later_than_promised"] += took > PROMISED
                entry["slowest_stop"] = max(entry["slowest_stop"], round(took, 4))
    if not scene.inputs_are_the_same():
        failures.append(f"{name}: an input has changed")
    return {"seconds_of_a_run": round(scene.seconds, 3), "signals": figures}, failures


def soak(seconds, seed, n_moments=200):
    """Attacks every job for a time, and no longer than until each signal has had its moments. Returns figures.
    Without an end (`math.inf` seconds) each signal gets all its moments."""
    program.attend_signals()
    workers = 2 * os.cpu_count()  # a job also waits for the disk
    began = time.monotonic()
    figures = {"seed": seed, "moments_wanted": n_moments, "failures": [], "jobs": {}}
    with tempfile.TemporaryDirectory() as top, concurrent.futures.ThreadPoolExecutor(workers) as pool:
        rounds = -(-len(JOBS) // workers)

        def one(number, name):
            folder = pathlib.Path(top) / str(number)
            folder.mkdir()
            until = began + seconds * (number // workers + 1) / rounds
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

