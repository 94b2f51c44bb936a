"""How jobs run: progress, Ctrl-C, threads, processes, warnings, memory."""

import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest

import stope
from stope import NearestNeighbors, StopeWarning, _core, _progress, _run
from stope._data import check_X

RNG = np.random.default_rng(0)
X = RNG.random((300, 6))


def run_program(program, *, wait=60, env=None, **options):
    """Runs a program of its own interpreter; it must end well and say nothing on stderr but what is asked for."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True,
                          timeout=wait, env={**os.environ, **(env or {})}, **options)
    assert done.returncode == 0, done.stderr
    return done


def search():
    """A search that is long enough to be seen."""
    big = RNG.random((20000, 30))
    return NearestNeighbors(n_neighbors=3, device="cpu").fit(big), big


def test_progress_is_called_with_phases_that_grow_and_end():
    nearest, big = search()
    calls = []
    with stope.config_context(progress=lambda *call: calls.append(call)):
        nearest.kneighbors(big[:3000])
    assert calls and calls[-1][1] == calls[-1][2] > 0
    last = {}
    for phase, done, total in calls:
        assert isinstance(phase, str) and 0 <= last.get(phase, 0) <= done
        assert done <= total or total == 0  # 0: nobody knows how much there is
        last[phase] = done


def test_progress_is_called_in_other_threads_too():
    nearest, big = search()
    calls, threads = [], []

    def work():
        with stope.config_context(progress=lambda *call: calls.append(threading.get_ident())):
            nearest.kneighbors(big[:3000])

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(calls) == {thread.ident for thread in threads} or len(set(calls)) == 1


def test_a_callback_of_the_caller_is_not_closed():
    class Callback:
        def __call__(self, phase, done, total):
            pass

        def close(self):
            raise AssertionError("closed")

    with stope.config_context(progress=Callback()):
        NearestNeighbors().fit(X)


def test_a_memory_limit_holds_for_tables_made_of_x():
    with stope.config_context(memory_limit=1000), pytest.raises(MemoryError):
        stope.Table(np.zeros((10000, 3), dtype=np.int32))


def test_an_exception_of_the_callback_ends_the_job_and_is_raised():
    nearest, big = search()

    def stop(phase, done, total):
        raise KeyError(phase)

    for run in (lambda call: call(), _in_a_thread):
        with stope.config_context(progress=stop), pytest.raises(KeyError):
            run(lambda: nearest.kneighbors(big))
    assert nearest.kneighbors(X[:1, [0] * 30])[1].shape == (1, 3)


def _in_a_thread(call):
    import contextvars
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(contextvars.copy_context().run, call).result()


def test_a_bar_shows_phases_after_a_second_and_goes_away(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])
    bar = _progress.Bar()
    bar("search", 1, 10)
    assert bar._shown is None
    now[0] = 1.5
    bar("search", 5, 10)
    assert "search" in capsys.readouterr().err and bar._shown._bar.n == 5
    bar("vote", 1, 0)
    bar("vote", 2, 0)
    assert bar._shown._bar.n == 2 and bar._shown._bar.total is None
    bar.close()
    bar.close()
    assert bar._shown is None


def test_a_line_stands_in_for_a_bar_where_tqdm_is_missing(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(_core, "progress_delay", lambda: 0)
    for terminal, wanted in ((False, "stope: search\n"), (True, "\rsearch: 50 %\r" + " " * 12 + "\r")):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
        bar = _progress.Bar()
        bar("search", 5, 10)
        bar("search", 6, 10)  # too soon after the last
        bar.close()
        assert capsys.readouterr().err == wanted
    monkeypatch.setattr(sys, "stderr", None)  # as in a program without a console
    bar = _progress.Bar()
    bar("search", 5, 10)
    bar.close()


def test_progress_true_shows_a_bar_and_closes_it():
    program = """
        import numpy as np, stope
        X = np.random.default_rng(0).random((20000, 30))
        with stope.config_context(progress=True):
            stope.NearestNeighbors(device="cpu").fit(X).kneighbors(X[:5000])
    """
    err = run_program(program, env={"STOPE_PROGRESS_DELAY": "1"}).stderr
    assert "search" in err or "%" in err


INTERRUPTED = """
    import os, signal, sys, threading, time
    import numpy as np, stope

    X = np.random.default_rng(0).random((200000, 40))
    nearest = stope.NearestNeighbors(device="cpu", metric="manhattan").fit(X)
    sent = []

    def send():
        time.sleep(1.0)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=send).start()
    try:
        nearest.kneighbors(X)
    except KeyboardInterrupt:
        print("interrupted", time.perf_counter() - sent[0])
    print(nearest.kneighbors(X[:2])[1][:, 0].tolist())
"""


def test_ctrl_c_ends_a_long_search_within_half_a_second_and_python_goes_on():
    out = run_program(INTERRUPTED, wait=120).stdout.split()
    assert out[0] == "interrupted" and float(out[1]) < 0.5
    assert out[2:] == ["[0,", "1]"]


def test_another_handler_may_let_the_search_go_on():
    nearest, big = search()
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        assert nearest.kneighbors(big[:4000])[1].shape == (4000, 3)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert seen


def test_sixteen_threads_search_one_model():
    nearest = NearestNeighbors(n_neighbors=4).fit(X)
    wanted = nearest.kneighbors(X)[1]
    failures = []

    def work():
        try:
            for _ in range(100):
                assert (nearest.kneighbors(X)[1] == wanted).all()
                assert nearest.report_
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_other_python_threads_run_during_a_job():
    nearest, big = search()
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.wait(0.001):
            ticks.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    nearest.kneighbors(big[:4000])
    stop.set()
    thread.join()
    assert len(ticks) > 5


def _child(nearest, queue):
    queue.put(nearest.kneighbors(X[:5])[1].tolist())


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_other_processes_answer_as_this_one(method):
    nearest = NearestNeighbors(n_neighbors=2).fit(X)
    wanted = nearest.kneighbors(X[:5])[1].tolist()
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    child = context.Process(target=_child, args=(nearest, queue))
    child.start()
    assert queue.get(timeout=60) == wanted
    child.join(60)
    assert child.exitcode == 0


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_fork_after_a_search_of_many_threads_can_search_and_fit():
    nearest, big = search()
    nearest.kneighbors(big[:2000])
    child = os.fork()
    if child == 0:
        try:
            fine = (nearest.kneighbors(big[:50])[1][:, 0] == np.arange(50)).all()
            fine &= (NearestNeighbors().fit(big).kneighbors(big[:50])[1][:, 0] == np.arange(50)).all()
            os._exit(0 if fine else 1)
        except BaseException:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_joblib_workers_answer_as_this_process():
    import joblib

    nearest = NearestNeighbors(n_neighbors=2).fit(X)
    parts = joblib.Parallel(n_jobs=2)(joblib.delayed(nearest.kneighbors)(X[i::3]) for i in range(3))
    for i, (_, indices) in enumerate(parts):
        assert (indices == nearest.kneighbors(X[i::3])[1]).all()


def test_n_jobs_counts_as_joblib_does():
    cpus = len(os.sched_getaffinity(0))
    assert _run._threads(None) == 0 and _run._threads(-1) == 0 and _run._threads(3) == 3
    assert _run._threads(-2) == max(cpus - 1, 1) and _run._threads(-1000) == 1
    with stope.config_context(threads=2):
        assert _run._threads(None) == 2 and _run._threads(1) == 1
    with pytest.raises(ValueError, match="n_jobs == 0 has no meaning"):
        _run._threads(0)
    for bad in (1.5, "all", [1]):
        with pytest.raises(TypeError, match="n_jobs is a whole number or None"):
            _run._threads(bad)
    assert _run._threads(np.int64(2)) == 2


@pytest.mark.parametrize("settings, error", [
    ({"threads": -1}, ValueError), ({"threads": 0.5}, TypeError), ({"memory_limit": -1}, ValueError),
    ({"memory_limit": "1G"}, TypeError), ({"device": "gpu"}, ValueError), ({"device": 3}, TypeError),
    ({"progress": 3}, TypeError), ({"thread": 1}, TypeError),
])
def test_wrong_settings_are_refused(settings, error):
    with pytest.raises(error):
        with stope.config_context(**settings):
            NearestNeighbors().fit(X).kneighbors(X)


def test_a_memory_limit_is_kept_and_its_error_says_what_would_do():
    nearest, big = search()
    with stope.config_context(memory_limit=1000), pytest.raises(MemoryError) as caught:
        nearest.kneighbors(big)
    assert isinstance(caught.value, stope.StopeError) and caught.value.bytes > 1000
    assert "Error" in repr(caught.value)


def test_a_device_that_is_not_there_is_named():
    nearest = NearestNeighbors(device="cuda:97").fit
    with pytest.raises(RuntimeError):
        nearest(X).kneighbors(X)


def test_warnings_have_a_code_and_point_at_the_caller():
    wide = X * np.array([1, 1e6, 1, 1, 1, 1])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        NearestNeighbors().fit(wide).kneighbors(wide[:2])
    given = [w for w in caught if isinstance(w.message, StopeWarning)]
    assert given and all(w.message.code == "ranges_apart" and w.filename == __file__ for w in given)
    again = pickle.loads(pickle.dumps(given[0].message))
    assert str(again) == str(given[0].message) and again.code == "ranges_apart"


def test_reports_are_dicts_that_print_as_text_and_can_be_pickled():
    nearest = NearestNeighbors().fit(X)
    nearest.kneighbors(X)
    report = nearest.report_
    assert isinstance(report, dict) and report["backend"] and str(report) and "{" not in str(report)[:1]
    again = pickle.loads(pickle.dumps(report))
    assert again == report and str(again) == str(report)


def test_settings_of_a_context_end_with_it_and_threads_have_their_own():
    before = stope.get_config()
    with stope.config_context(threads=3):
        with stope.config_context(memory_limit=10**9):
            assert stope.get_config() == {**before, "threads": 3, "memory_limit": 10**9}
        seen = []
        thread = threading.Thread(target=lambda: seen.append(stope.get_config()["threads"]))
        thread.start()
        thread.join()
        assert seen == [before["threads"]]
    assert stope.get_config() == before


def test_exit_with_live_tables_models_and_progress_leaks_nothing():
    program = """
        import threading
        import numpy as np, pandas as pd, stope
        from stope import _core
        X = np.asfortranarray(np.random.default_rng(0).random((20000, 20)))
        X.flags.writeable = False
        table = stope.Table(X)
        lent = _core.Table.of_array(X, [], True, _core.Run())
        column = table["x0"]
        nearest = stope.NearestNeighbors(device="cpu").fit(X)
        stream = table.__arrow_c_stream__()
        stope.set_config(progress=lambda *call: None)
        nearest.kneighbors(X[:2000])
        try:
            table.take([10**6])
        except IndexError as error:
            kept = error
        thread = threading.Thread(target=lambda: nearest.kneighbors(X), daemon=True)
        thread.start()
        print("end")
    """
    done = run_program(program)
    assert done.stdout == "end\n"
    assert "nanobind" not in done.stderr and "leak" not in done.stderr


def test_no_code_of_python_runs_as_a_daemon_thread_begins_a_job():
    program = """
        import sys, threading, time
        import numpy as np, stope
        X = np.random.default_rng(0).random((20000, 20))
        nearest = stope.NearestNeighbors(device="cpu").fit(X)
        usual, asked = threading.current_thread, threading.Event()

        def slow():
            if sys._getframe(1).f_globals["__name__"].startswith("stope"):
                asked.set()
                time.sleep(0.3)  # the interpreter begins to end meanwhile, and this thread must not return to C++
            return usual()

        class Late:
            def __del__(self, sleep=time.sleep):
                sleep(0.6)  # while the interpreter ends

        late = Late()
        threading.current_thread = slow
        threading.Thread(target=lambda: nearest.kneighbors(X), daemon=True).start()
        asked.wait(0.2)
        print("end")
    """
    assert run_program(program).stdout == "end\n"


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_thousand_fits_hold_no_memory():
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "t": ["x", "y", "z"] * 100})

    def once():
        nearest = NearestNeighbors(n_neighbors=2).fit(frame)
        nearest.kneighbors(frame.iloc[:3])
        repr(stope.Table(frame))
        with pytest.raises(ValueError):
            nearest.kneighbors(frame[["t", "a", "b"]])

    def held():
        for _ in range(200):
            once()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    held()
    rss, after = resident(), [held() for _ in range(5)]
    tracemalloc.stop()
    # A leak grows in every round. A cache that is filled, or another thread's work, grows in some.
    assert min(later - earlier for earlier, later in zip(after, after[1:])) < 8_000, after
    assert resident() - rss < 30_000_000


def test_frames_and_arrays_are_let_go_with_the_model():
    import weakref

    class Array(np.ndarray):
        pass

    big = np.asfortranarray(RNG.random((1000, 3)))
    big.flags.writeable = False
    gone = weakref.ref(big)
    table = _core.Table.of_array(big, [], True, _core.Run())
    column = table.column(0)
    del big
    gc.collect()
    assert gone() is not None
    del table
    gc.collect()
    assert gone() is not None
    del column
    gc.collect()
    assert gone() is None


def test_a_lent_array_is_let_go_by_a_thread_of_the_engine():
    class Thing:
        pass

    for _ in range(20):
        frame = pd.DataFrame(RNG.random((50, 3)))
        rows = check_X(Thing(), frame, reset=True)
        table = rows.as_table(_core.Run())
        threading.Thread(target=lambda held: None, args=(table,)).start()
        del table, rows, frame
