"""Times the programs of a row. Each has a forked process, which shares the row's data without a copy. They take turns,
and another one begins each round, so that what disturbs the machine disturbs all. A program that needs longer than the
limit for a round is ended: it is "too slow". One whose rounds together reach the limit has no further round, nor has one
that is far behind the fastest rival in all figures.
"""
import multiprocessing
import os
import pathlib
import statistics
import tempfile
import time

import numpy as np

SHORT = 0.1  # seconds for which a short phase is repeated; its median counts
FAR = 5.0  # times what the fastest rival takes
CHEAP = 1.0  # seconds for which a round is repeated even so
PREPARE = 180  # seconds that a program may take to prepare, and to compare its answer


def measure(row, arguments):
    """The row's result: shape, and for each program its samples, its best times and how far its answer is from ours."""
    data = row.make()
    with tempfile.TemporaryDirectory() as folder:
        ours = pathlib.Path(folder) / "ours.npz"
        turns = {name: Turn(name, make, row, data, ours, arguments) for name, make in row.programs.items()}
        try:
            for i in range(arguments.repeats):
                order = list(turns.values())
                order = order[i % len(order):] + order[:i % len(order)]
                for turn in order:
                    if i == 0 or not turn.is_far_behind(turns.values()):
                        turn.round()
                    if i == 0:
                        turn.judge()
        finally:
            for turn in turns.values():
                turn.end()
    return {"name": row.name, "job": row.job, "shape": row.shape, "threads": arguments.threads,
            "load": os.getloadavg()[0], "programs": {name: turn.result() for name, turn in turns.items()}}


class Turn:
    """One program: its process, and what is known of it."""

    def __init__(self, name, make, row, data, ours, arguments):
        self.name, self.limit, self.ours, self.spent, self.samples = name, arguments.limit, ours, 0.0, {}
        self.facts, self.process = {}, None
        most = getattr(make, "most_work", None)
        if most and row.work > most:
            self.facts["too_slow"] = f"not tried: {row.work:.0e} steps"
            return
        context = multiprocessing.get_context("fork")
        self.connection, theirs = context.Pipe()
        # No daemon: joblib would give scikit-learn one thread in it.
        self.process = context.Process(target=_serve, args=(self.connection, theirs, make, row, data, arguments.threads))
        self.process.start()
        theirs.close()
        self._take(self._wait(PREPARE))

    def round(self):
        done = len(next(iter(self.samples.values()), ()))
        if self.process is None or (done and self.spent * (done + 1) / done > self.limit):
            return
        begin = time.perf_counter()
        answer = self._ask(("round", self.limit / 3), self.limit)
        self.spent += time.perf_counter() - begin
        for phase, sample in answer.items():
            self.samples.setdefault(phase, []).append(sample)

    def is_far_behind(self, turns):
        """Whether another round cannot make this program the fastest rival in any figure."""
        rivals = [turn for turn in turns if turn.name != "stope"]
        if self not in rivals or self.spent < CHEAP or not self.samples:
            return False
        figures = {name for name in self.samples if not name.endswith("_cpu") and name != "build"}
        fastest = {name: min(min(turn.samples[name]) for turn in rivals if name in turn.samples) for name in figures}
        return all(min(self.samples[name]) > FAR * fastest[name] for name in figures)

    def judge(self):
        """Keeps our answer, or compares a rival's with it."""
        if self.name == "stope":
            self._take(self._ask(("keep", self.ours), PREPARE))
        elif self.ours.exists():
            self._take(self._ask(("compare", self.ours), PREPARE))

    def end(self):
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None

    def result(self):
        best = {phase: min(samples) for phase, samples in self.samples.items()}
        return self.facts | {"best": best, "samples": self.samples}

    def _ask(self, order, seconds):
        """The process's answer. Without one the program is out, and there is nothing to take."""
        if self.process is None:
            return {}
        self.connection.send(order)
        return self._wait(seconds)

    def _wait(self, seconds):
        try:
            if self.connection.poll(seconds):
                answer = self.connection.recv()
            else:
                answer = {"too_slow": f"more than {seconds:g} s"}
        except (EOFError, ConnectionError):
            answer = {"error": "the process ended"}
        if {"error", "too_slow"} & answer.keys():
            self.end()
            self._take(answer)
            return {}
        return answer

    def _take(self, facts):
        self.facts |= facts


def _serve(parents, connection, make, row, data, threads):
    """The forked process: answers one order after another, until it is killed or the parent is gone."""
    parents.close()
    try:
        program = make(data, threads)
        connection.send({"version": program.version})
        while True:
            order = connection.recv()
            if order[0] == "round":
                connection.send(_round(program, order[1]))
            elif order[0] == "keep":
                connection.send(_keep(program, row, data, order[1]))
            else:
                with np.load(order[1]) as ours:
                    connection.send({"exactness": row.compare(ours, program.answer())})
    except (EOFError, ConnectionError):
        return
    except ImportError as error:
        connection.send({"error": f"not installed: {error.name}"})
    except Exception as error:  # noqa: BLE001: whatever it is, the other programs go on
        connection.send({"error": f"{type(error).__name__}: {str(error)[:300]}"})


def _keep(program, row, data, path):
    answer = program.answer()
    np.savez(path, **answer)
    wrong = row.check(data, answer) if row.check else None
    return {"error": f"WRONG: {wrong}"} if wrong else {"checked": bool(row.check)}


def _round(program, most):
    """Wall and CPU seconds of each phase. "whole" adds up those that a user waits for once: all but a second search. That
    is left out where the first took more than `most` seconds, with the index."""
    found, begin = {}, time.perf_counter()
    for phase in program.phases:
        if phase == "again" and time.perf_counter() - begin > most:
            break
        found[phase], found[f"{phase}_cpu"] = _timed(getattr(program, phase), phase in program.repeated)
    whole = [phase for phase in program.phases if phase != "again"]
    if len(whole) > 1:
        for suffix in ("", "_cpu"):
            found[f"whole{suffix}"] = sum(found[phase + suffix] for phase in whole)
    return found


def _timed(call, repeated):
    wall, cpu, begin = [], [], time.perf_counter()
    while not wall or (repeated and time.perf_counter() - begin < SHORT):
        s, c = time.perf_counter(), time.process_time()
        call()
        wall.append(time.perf_counter() - s)
        cpu.append(time.process_time() - c)
    return statistics.median(wall), statistics.median(cpu)
