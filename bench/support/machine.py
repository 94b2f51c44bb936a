"""What a result file says about its machine and about the code that was measured."""
import datetime
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def cpu_name():
    """The CPU's name. Where a vendor hides the model, family and model number identify it."""
    text = pathlib.Path("/proc/cpuinfo").read_text()

    def field(name):
        found = re.search(rf"^{name}\s*:\s*(.*)", text, re.M)
        return found.group(1).strip() if found else "unknown"

    return f"{field('model name')} (family {field('cpu family')} model {field('model')})"


def commit():
    """The commit that was measured. STOPE_COMMIT names it if a build travelled without its repository."""
    if "STOPE_COMMIT" in os.environ:
        return os.environ["STOPE_COMMIT"]
    done = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return done.stdout.strip()


def gpus():
    """The names of the GPUs that the driver shows, as nvidia-smi lists them."""
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True)
    except OSError:
        return []
    return [line.strip() for line in done.stdout.splitlines() if line.strip()] if done.returncode == 0 else []


def memory_bytes():
    """The bytes that are available without swapping."""
    text = pathlib.Path("/proc/meminfo").read_text()
    return 1024 * int(re.search(r"^MemAvailable:\s*(\d+)", text, re.M).group(1))


def result_path(folder, name, machine=None):
    """Returns folder/NAME_MACHINE_DATE.json. The machine is the CPU unless another name is given, for example a GPU's."""
    slug = re.sub(r"[^a-z0-9]+", "-", (machine or cpu_name()).lower()).strip("-")
    return pathlib.Path(folder) / f"{name}_{slug}_{datetime.date.today().isoformat()}.json"


def write_result(folder, name, result, machine=None):
    """Writes the file of result_path with the machine, the date and the commit added; returns its path."""
    return write_file(result_path(folder, name, machine), name, result)


def write_file(path, name, result):
    """Writes such a file. It is complete at every moment, for a run that writes it again after each row."""
    head = {"benchmark": name, "cpu": cpu_name(), "cores": os.cpu_count(), "date": datetime.date.today().isoformat(),
            "commit": commit(), "load_average": os.getloadavg(), "gpus": gpus()}
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    unfinished.write_text(json.dumps(head | result, indent=1) + "\n")
    unfinished.replace(path)
    return path
