"""Shared by the works of bench/prior_works.py: rows of results, answers that must agree, crossovers."""
import dataclasses
import math
import statistics
import typing


@dataclasses.dataclass
class Work:
    """An earlier work. A row of results has `table`, `line`, `size` and `device`, and `milliseconds`, `answer` or `error`."""
    theirs: dict  # table -> line -> size -> milliseconds, as printed
    notes: dict  # table -> what is compared with what
    measure: typing.Callable  # (arguments, work's name, devices) -> rows
    plot: typing.Callable  # (rows, machine) -> matplotlib figure, title
    conclude: typing.Callable = lambda rows: {}  # rows -> further members of the file, such as crossovers


def plugin(build):
    return {"STOPE_CUDA_PLUGIN": str((build / "libstope_cuda.so").resolve())}


def text_of(row):
    if "error" in row:
        return row["error"]
    times = row["milliseconds"] or [row["first_ms"]]
    if row.get("queries"):
        return f"{times[-1]:.1f} ms for {row['queries'][-1]} queries ({row['method']})"
    return f"{row['median_ms']:.4g} ms {'(' + row['method'] + ')' if 'method' in row else ''}"


def size_text(size):
    return f"{size:,}" if isinstance(size, int) else " x ".join(map(str, size))


def show(rows):
    """Adds the median of every row and prints it."""
    for row in rows:
        if row.get("milliseconds") and not row.get("queries"):
            row["median_ms"] = statistics.median(row["milliseconds"])
        elif "first_ms" in row and not row.get("queries"):
            row["median_ms"] = row["first_ms"]
        print(f"{row['table']}, {row['line']}, {size_text(row['size'])}, {row['device']}: {text_of(row)}", flush=True)
    return rows


def differing(rows):
    """The cases whose answers differ between devices."""
    answers = {}
    for row in rows:
        if "answer" in row and (not row.get("queries") or row["queries"][-1] >= 10):
            answers.setdefault((row["table"], row["line"], str(row["size"])), set()).add(row["answer"])
    return [case for case, found in answers.items() if len(found) > 1]


def crossovers(work, unit, pairs):
    """The crossovers in {name: (slower start, faster)} that were measured; prints them."""
    found = {name: crossover(*pair) for name, pair in pairs.items() if all(pair)}
    for name, size in found.items():
        print(f"{work} crossover, {name}: {'none' if size is None else f'{size:,} {unit}' if size else 'always'}")
    return found


def crossover(slow_start, fast):
    """The size from which on `fast` ({size: ms}) always takes less time than `slow_start`. Between two sizes it is
    where the ratio, interpolated by logarithms, is 1. None if `fast` never wins, 0 if it always does."""
    sizes = sorted(set(slow_start) & set(fast))
    ratios = [fast[size] / slow_start[size] for size in sizes]
    last = max((i for i, ratio in enumerate(ratios) if ratio >= 1), default=-1)
    if last + 1 == len(sizes):
        return None
    if last < 0:
        return 0
    low, high = math.log(ratios[last]), math.log(ratios[last + 1])
    share = low / (low - high)
    return round(sizes[last] * (sizes[last + 1] / sizes[last]) ** share)
