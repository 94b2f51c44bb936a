"""The table of bench/rivals.py: a Markdown line for each row and each figure that is compared, with the fastest rival. Lines
where a rival leads by more than 5 % come first."""

LEAD = 1.05
FIGURES = ("run", "fit", "transform", "whole", "again")
HEADS = ("row", "figure", "stope", "fastest rival", "", "rival / stope", "in CPU time", "its exactness", "the others")
SHORT = (0, 1, 2, 3, 4, 5, 7)  # of these columns


def line(cells):
    return f"| {' | '.join(cells)} |"


def head(columns):
    return f"{line([HEADS[c] for c in columns])}\n|{'---|' * len(columns)}"


def duration(seconds):
    if seconds < 1e-3:
        return f"{1e6 * seconds:.0f} µs"
    return f"{1e3 * seconds:.{0 if seconds >= 0.1 else 1}f} ms" if seconds < 1 else f"{seconds:.2f} s"


def exactness(found):
    shown = found.get("exactness", {})
    lists = f"lists {shown['lists']:.4g}, " if "lists" in shown else ""
    return f"{lists}{shown['difference']:.0e}" if shown else "not compared"


def lines_of(row, cpu, columns):
    """(ratio, line) for each figure that stope has. The ratio is the fastest rival's time by ours."""
    programs = dict(row["programs"])
    ours = programs.pop("stope")
    key = "_cpu" if cpu else ""
    for figure in FIGURES:
        if figure not in ours.get("best", {}):
            continue
        times = {name: found["best"][figure + key] for name, found in programs.items() if figure in found.get("best", {})}
        others = [f"{name} {duration(t)}" for name, t in sorted(times.items(), key=lambda each: each[1])[1:]]
        others += [f"{name}: {found.get('too_slow') or found['error']}" for name, found in programs.items()
                   if "too_slow" in found or "error" in found]
        mine = ours["best"][figure + key]
        cells = [row["name"], figure, duration(mine)]
        if times:
            first = min(times, key=times.get)
            ratio = times[first] / mine
            of_cpu = programs[first]["best"][figure + "_cpu"] / max(ours["best"][figure + "_cpu"], 1e-9)
            cells += [first, duration(times[first]), f"{ratio:.2f}", f"{of_cpu:.2f}", exactness(programs[first])]
        else:
            ratio, cells = float("inf"), cells + ["none in time", "", "", "", ""]
        cells.append("; ".join(others))
        yield ratio, line([cells[c] for c in columns])


def print_table(result, cpu, short):
    columns = SHORT if short else range(len(HEADS))
    found = [each for row in result["rows"] for each in lines_of(row, cpu, columns)]
    behind = sorted(each for each in found if each[0] * LEAD < 1)
    print(f"\n{len(result['rows'])} rows, best of {result['repeats']} rounds, {result['threads']} threads, {result['cpu']}, "
          f"{'CPU' if cpu else 'wall'} time.\n")
    print(f"A rival leads by more than 5 % in {len(behind)} of {len(found)} figures:\n\n{head(columns)}")
    for _, each in behind:
        print(each)
    print(f"\nAll others:\n\n{head(columns)}")
    for ratio, each in found:
        if not ratio * LEAD < 1:
            print(each)
    for row in result["rows"]:
        if "error" in row["programs"]["stope"] or "too_slow" in row["programs"]["stope"]:
            print(f"\nstope in {row['name']}: {row['programs']['stope']}")
