#!/usr/bin/env python3
"""Checks who includes whom (docs/ARCHITECTURE.md), and how long files are.

  scripts/check_includes.py [ROOT]      prints one line per finding; exit 1 if there is an error
  scripts/check_includes.py --self-test plants one violation of every kind and wants each found
"""

import pathlib
import re
import sys
import tempfile

# Module -> the modules of src/ it may use besides itself.
MAY_USE = {
    "base": set(),
    "table": {"base", "device"},
    "io": {"base", "table"},
    "device": {"base"},
    "stats": {"base", "table", "device"},
    "normalize": {"base", "table", "stats"},
    "knn": {"base", "table", "device"},
    "gram": {"base", "table", "device"},
    "generate": {"base", "table"},
    "discretize": {"base", "table", "device", "stats"},
    "tree": {"base", "table", "device", "stats", "discretize"},
    "impute": {"base", "table", "device", "stats", "normalize", "knn"},
    "predict": {"base", "table", "device", "stats", "normalize", "knn", "gram", "discretize", "tree", "impute"},
    "eval": {"base", "table", "device", "stats", "normalize", "knn", "gram", "discretize", "tree", "impute", "predict"},
    "model": {"base", "table", "io", "device", "stats", "normalize", "knn", "gram", "discretize", "tree", "impute", "predict"},
    "jobs": {"base", "table", "io", "device", "stats", "normalize", "knn", "gram", "discretize", "tree", "impute", "predict", "eval", "model"},
    "capi": {"base", "table", "io", "device", "stats", "normalize", "knn", "gram", "discretize", "tree", "impute", "predict", "eval", "model", "jobs"},
}

# Module with rooms -> room -> the rooms it may use besides itself, in the order in which they build on each other. A
# file outside every room ("" here) is at the top. cuda/ folders are outside this order: the files that they may use are
# listed one by one, because device code needs little but the formulas.
ROOMS = {
    "knn": {
        "measure": set(),
        "lists": set(),
        "engine": {"measure", "lists"},
        "filter": {"measure", "lists", "engine"},
        "vote": {"measure", "lists", "engine", "filter"},
        "gpu": {"measure", "lists", "engine", "filter", "vote"},
        "search": {"measure", "lists", "engine", "filter", "vote", "gpu"},
        "": {"measure", "lists", "engine", "filter", "vote", "gpu", "search"},
        "cuda": {"measure"},
    },
}
# Files that others may include although the table above forbids it: the fitted table, on which every room works, and
# the border to the plug-in.
FOR_EVERY_ROOM = {"knn/cuda_abi.hpp", "knn/fitted.hpp", "knn/row_sum.hpp"}
FOR_CUDA = {"knn/lists/rapidminer_heap.hpp", "knn/filter/row_image.hpp", "knn/filter/sum_bounds.hpp",
            "knn/vote/rule.hpp", "knn/vote/vote_abi.hpp", "knn/gpu/device_rows_abi.hpp"}

# Public header -> the module it belongs to: a module may include only the public headers of modules it may use.
PUBLIC = {
    "array": "base", "backend_report": "base", "buffer": "base", "compat": "base", "error": "base", "escape": "base", "names": "base", "nearest_name": "base", "report": "base", "run": "base", "version": "base", "warning": "base", "words": "base",
    "table": "table", "feature_weights": "table", "table_builder": "table", "values": "table", "cuts": "table", "cuts_file": "io", "io": "io", "table_files": "io", "arrow": "io", "files": "io", "lost_input": "io", "device": "device", "normalize": "normalize", "metric": "knn", "knn": "knn",
    "eval": "eval", "scores": "eval", "split": "eval", "stats": "stats", "impute": "impute", "gram": "gram", "gram_file": "io", "decompose": "gram", "pca": "gram", "lsq": "gram", "correlation": "gram", "generate": "generate",
    "discretize": "discretize", "tree": "tree", "tree_format": "tree", "find_cuts": "tree", "model": "model",
    "jobs": "jobs", "neighbors_model": "predict", "predictor": "predict", "chain": "predict", "explain": "predict", "vote": "knn", "place_of_cell": "io", "row_text": "io",
    "stope": "everything",
}
PUBLIC_PREFIX = {"knn": "knn"}  # a public header that had to be split: stope/knn_report.hpp belongs to knn

# Libraries of others, by the folder or file an include names, and the places that may use them.
THIRD_PARTY = {
    "zlib.h": {"io"}, "zstd.h": {"io"}, "nlohmann/": {"io", "model", "cli", "jobs", "capi"}, "CLI/": {"cli"}, "fmt/": {"cli"},
    "Eigen/": {"gram"},
}
# Binding -> the headers of its language and of the system that it may include: a name, or a folder with its slash.
BINDINGS = {
    "jvm": {"jni.h", "sys/random.h"},
    "python": {"nanobind/", "Python.h", "dlfcn.h", "link.h", "pthread.h", "sys/random.h", "sys/stat.h", "unistd.h"},
}
# Bindings of the C++ API: they may include every public header. The others stand on the C ABI alone.
CPP_BINDINGS = {"python"}
CUDA = re.compile(r"^(cuda|cub/|thrust/|cutlass/|cute/|mma\.h|cooperative_groups|nvtx3/|curand|cublas|device_launch)")
STD = set("""algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes
climits clocale cmath codecvt compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef
cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem format forward_list
fstream functional future initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map
memory memory_resource mutex new numbers numeric optional ostream queue random ranges ratio regex scoped_allocator
semaphore set shared_mutex source_location span sstream stack stdexcept stop_token streambuf string string_view
syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray
variant vector version""".split())

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SUFFIXES = {".hpp", ".cpp", ".h", ".cu", ".cuh", ".inl"}
C_HEADER = "stope.h"  # the C ABI is one header of C99
C_STANDARD = {"stddef.h", "stdint.h"}
MAX_C_LINES = 400
MAX_PUBLIC_LINES = 200
MAX_LINES = 500


def includes(path):
    """(line number, bracket, name) of every include of a file."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = INCLUDE.match(line)
        if found:
            yield number, found.group(1), found.group(2)


def resolve(name, file, root):
    """The file of the project that an include means, or None. It is in the including file's folder, in include/, in
    src/ or in the root."""
    for base in (file.parent, root / "include", root / "src", root / "cli"):
        if (base / name).is_file():
            return (base / name).resolve()
    return None


def owner(target, root):
    """The module a header of the project belongs to."""
    parts = target.relative_to(root).parts
    if parts[0] == "include":
        if parts[-1] == C_HEADER:
            return "capi"
        stem = pathlib.PurePath(parts[-1]).stem
        return PUBLIC.get(stem) or PUBLIC_PREFIX.get(stem.split("_")[0])
    return parts[1] if parts[0] == "src" else parts[0]


def check_public(name, bracket, target, root, path):
    if path.name == C_HEADER:
        return None if bracket == "<" and name in C_STANDARD else f"{C_HEADER} includes only {', '.join(sorted(C_STANDARD))}, not {name}"
    if bracket == "<":
        return None if name in STD else f"public headers include only std and stope/, not <{name}>"
    if target is None or not target.is_relative_to(root / "include"):
        return f'public headers include only std and stope/, not "{name}"'
    return None


def check_third_party(name, place):
    for library, places in THIRD_PARTY.items():
        if name == library or (library.endswith("/") and name.startswith(library)):
            return None if place in places else f"<{name}> is for {', '.join(sorted(places))} only"
    return None


def in_cuda_folder(path, root):
    return "cuda" in path.resolve().relative_to(root).parts[:-1]


def room_of(path, root):
    """The room of a file of src/<module>/: the folder under the module, "" for the module's own folder."""
    parts = path.resolve().relative_to(root / "src").parts
    return parts[1] if len(parts) > 2 else ""


def check_room(name, target, path, module, root):
    """An include between two files of one module."""
    if module not in ROOMS or not target.is_relative_to(root / "src"):
        return None
    room, used, inside = room_of(path, root), room_of(target, root), target.relative_to(root / "src").as_posix()
    if room not in ROOMS[module] or used not in ROOMS[module]:
        return f"'{module}/{room if room not in ROOMS[module] else used}' has no row in ROOMS of scripts/check_includes.py"
    if used == room or used in ROOMS[module][room] or inside in FOR_EVERY_ROOM or (room == "cuda" and inside in FOR_CUDA):
        return None
    allowed = ", ".join(sorted(ROOMS[module][room])) or "no other room"
    what = f"{module}/{used}" if used else f"the top of {module}"
    return f'{module}/{room} may not use {what} ("{name}"); it may use {allowed}'


def check_project(name, target, path, place, root):
    """An include of a file of the project, from src/<place> or cli."""
    module = owner(target, root)
    if module is None:
        return f'"{name}": say in scripts/check_includes.py which module this public header belongs to'
    if place == "cli":
        if module == "cli" or target.is_relative_to(root / "include"):
            return None
        return f'the command line uses only "stope/...", not "{name}"'
    if in_cuda_folder(target, root) and not in_cuda_folder(path, root):
        return f'"{name}" belongs to the CUDA plug-in: the core talks to it through cuda_abi.hpp'
    if module == place:
        return check_room(name, target, path, place, root)
    if module in MAY_USE[place]:
        return None
    allowed = ", ".join(sorted(MAY_USE[place])) or "nothing else"
    return f'{place} may not use {module} ("{name}"); it may use {allowed}'


def check_binding(path, root):
    """Messages (line, text) about one file of bindings/: it uses public headers and its own files, not the core."""
    parts = path.relative_to(root).parts
    binding = parts[1]
    may_use = '"stope/..."' if binding in CPP_BINDINGS else f'"stope/{C_HEADER}"'
    foreign = BINDINGS.get(binding, set())
    for line, bracket, name in includes(path):
        target = resolve(name, path, root) if bracket == '"' else None
        if bracket == "<":
            allowed = name in STD or name in C_STANDARD or name in foreign or f"{name.split('/')[0]}/" in foreign
        else:
            public = name.startswith("stope/") if binding in CPP_BINDINGS else name == f"stope/{C_HEADER}"
            allowed = public or (target and target.is_relative_to(root / "bindings" / binding))
        if not allowed:
            yield line, f'bindings/{binding} uses only {may_use} and its own files, not {name}'


def check_file(path, root):
    """Messages (line, text) about one file of include/, src/, cli/ or bindings/."""
    parts = path.relative_to(root).parts
    if parts[0] == "bindings":
        yield from check_binding(path, root)
        return
    public = parts[0] == "include"
    place = "include" if public else "cli" if parts[0] == "cli" else parts[1]
    if parts[0] == "src" and place not in MAY_USE:
        yield 1, f"module '{place}' has no row in scripts/check_includes.py"
        return
    for line, bracket, name in includes(path):
        if CUDA.match(name) and "cuda" not in parts[:-1]:
            yield line, f"<{name}>: CUDA headers belong in cuda/ folders"
            continue
        target = resolve(name, path, root) if bracket == '"' else None
        if public:
            problem = check_public(name, bracket, target, root, path)
        elif bracket == "<":
            problem = check_third_party(name, place)
        elif target is None:
            problem = check_third_party(name, place) or f'"{name}" is no file of the project; others\' headers take <>'
        else:
            problem = check_project(name, target, path, place, root)
        if problem:
            yield line, problem


def check_length(path, root):
    """A message (line, text) about a file that is too long, in any folder."""
    length = len(path.read_text(encoding="utf-8").splitlines())
    limit = MAX_LINES if path.relative_to(root).parts[0] != "include" else MAX_C_LINES if path.name == C_HEADER else MAX_PUBLIC_LINES
    if length > limit:
        yield length, f"{length} lines, at most {limit}: split it by idea"


def check_exports(path, root):
    """A public header that declares functions or classes makes them visible: the library hides everything else."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.relative_to(root).parts[0] != "include" or not re.search(r"^namespace stope {", text, re.M):
        return []
    if "#pragma GCC visibility push(default)\nnamespace stope {" in text and "#pragma GCC visibility pop\n" in text:
        return []
    return [f"{path.relative_to(root)}: put namespace stope between '#pragma GCC visibility push(default)' and 'pop'"]


def check(root):
    root = root.resolve()
    found = []
    for top in ("include", "src", "cli", "bindings", "tests", "bench", "fuzz"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            messages = list(check_length(path, root))
            if top in ("include", "src", "cli", "bindings"):  # the others may include anything
                messages += check_file(path, root)
            found += [f"{path.relative_to(root)}:{line}: {text}" for line, text in messages]
            found += check_exports(path, root)
    return found


def self_test():
    # (file, its text, what must be said about it; None = nothing)
    cases = [
        ("include/stope/error.hpp", "#include <string>\n", None),
        ("include/stope/io.hpp", '#include "stope/error.hpp"\n', None),
        ("include/stope/hidden.hpp", "namespace stope {\n}\n", "put namespace stope between"),
        ("include/stope/run.hpp", "#include <zlib.h>\n", "public headers include only std"),
        ("include/stope/knn.hpp", '#include "base/checked.hpp"\n', "public headers include only std"),
        ("include/stope/table.hpp", "\n" * 201, "201 lines, at most 200"),
        ("include/stope/odd.hpp", "\n", None),
        ("include/stope/stope.h", "#include <stdint.h>\n#include <string>\n", "includes only stddef.h, stdint.h"),
        ("src/capi/uses.hpp", '#include "stope/stope.h"\n#include "stope/knn.hpp"\n', None),
        ("src/knn/c_abi.hpp", '#include "stope/stope.h"\n', "knn may not use capi"),
        ("src/base/checked.hpp", '#include "stope/error.hpp"\n', None),
        ("src/base/up.cpp", '#include "table/columns.hpp"\n', "base may not use table"),
        ("src/base/public_up.cpp", '#include "stope/io.hpp"\n', "base may not use io"),
        ("src/table/columns.hpp", '#include "base/checked.hpp"\n#include <vector>\n', None),
        ("src/knn/reads.cpp", '#include "stope/io.hpp"\n', "knn may not use io"),
        ("src/knn/gpu.cpp", "#include <cuda_runtime.h>\n", "CUDA headers belong in cuda/"),
        ("src/knn/cuda/gpu.cu", "#include <cuda_runtime.h>\n", None),
        ("src/knn/cuda/kernel.cuh", '#include "knn/cuda/tile.hpp"\n', None),
        ("src/knn/cuda/tile.hpp", '#include "knn/cuda_abi.hpp"\n', None),
        ("src/knn/index.hpp", '#include "knn/cuda_abi.hpp"\n', None),
        ("src/knn/cuda_abi.hpp", "#pragma once\n", None),
        ("src/knn/inside.cpp", '#include "knn/cuda/tile.hpp"\n', "belongs to the CUDA plug-in"),
        ("src/device/cuda/up.cu", '#include "knn/cuda/tile.hpp"\n', "device may not use knn"),
        ("src/knn/gone.cpp", '#include "knn/gone.hpp"\n', "is no file of the project"),
        ("src/knn/unowned.cpp", '#include "stope/odd.hpp"\n', "which module this public header belongs to"),
        ("src/knn/engine/plan.hpp", '#include "knn/measure/form.hpp"\n#include "knn/fitted.hpp"\n', None),
        ("src/knn/measure/form.hpp", "#pragma once\n", None),
        ("src/knn/fitted.hpp", "#pragma once\n", None),
        ("src/knn/filter/tile.cpp", '#include "knn/engine/plan.hpp"\n#include "tile.hpp"\n', None),
        ("src/knn/filter/tile.hpp", "#pragma once\n", None),
        ("src/knn/filter/row_image.hpp", '#include "knn/measure/form.hpp"\n', None),
        ("src/knn/engine/up.cpp", '#include "knn/filter/tile.hpp"\n', "knn/engine may not use knn/filter"),
        ("src/knn/filter/beside.cpp", '#include "../vote/rule.hpp"\n', "knn/filter may not use knn/vote"),
        ("src/knn/vote/rule.hpp", '#include "knn/filter/tile.hpp"\n', None),
        ("src/knn/gpu/top.cpp", '#include "knn/index.hpp"\n', "knn/gpu may not use the top of knn"),
        ("src/knn/gpu/tensor/deep.cpp", '#include "knn/filter/tile.hpp"\n', None),
        ("src/knn/cuda/image.cu", '#include "knn/filter/row_image.hpp"\n', None),
        ("src/knn/cuda/fitted.cu", '#include "knn/filter/tile.hpp"\n', "knn/cuda may not use knn/filter"),
        ("src/knn/pairs.cpp", '#include "knn/engine/plan.hpp"\n', None),
        ("src/knn/attic/old.cpp", '#include "knn/engine/plan.hpp"\n', "'knn/attic' has no row in ROOMS"),
        ("src/io/gzip.cpp", "#include <zlib.h>\n", None),
        ("src/table/gzip.cpp", "#include <zlib.h>\n", "is for io only"),
        ("src/io/long.cpp", "\n" * 501, "501 lines, at most 500"),
        ("src/io/long.inl", "\n" * 501, "501 lines, at most 500"),
        ("src/io/body.inl", '#include "knn/index.hpp"\n', "io may not use knn"),
        ("src/knn/scan.inl", '#include "base/checked.hpp"\n', None),
        ("tests/io/long_test.cpp", "\n" * 501, "501 lines, at most 500"),
        ("src/newcomer/a.cpp", "\n", "has no row"),
        ("cli/main.cpp", '#include <CLI/CLI.hpp>\n#include "stope/io.hpp"\n#include "options.hpp"\n', None),
        ("cli/options.hpp", "#pragma once\n", None),
        ("bindings/jvm/main.cpp", '#include "stope/stope.h"\n#include <jni.h>\n#include "own.hpp"\n#include <string>\n', None),
        ("bindings/jvm/own.hpp", "#pragma once\n", None),
        ("bindings/jvm/core.cpp", '#include "stope/io.hpp"\n', 'uses only "stope/stope.h" and its own files, not stope/io.hpp'),
        ("bindings/jvm/foreign.cpp", "#include <zlib.h>\n", 'uses only "stope/stope.h" and its own files, not zlib.h'),
        ("bindings/python/module.cpp", '#include <nanobind/stl/string.h>\n#include "stope/io.hpp"\n', None),
        ("bindings/python/core.cpp", '#include "base/checked.hpp"\n', 'uses only "stope/..." and its own files, not base/checked.hpp'),
        ("bindings/python/foreign.cpp", "#include <jni.h>\n", 'uses only "stope/..." and its own files, not jni.h'),
        ("bindings/jvm/long.cpp", "\n" * 501, "501 lines, at most 500"),
        ("cli/inside.cpp", '#include "base/checked.hpp"\n', 'the command line uses only "stope/..."'),
    ]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text, _ in cases:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        found = check(root)
    wrong = []
    for name, _, expected in cases:
        said = [line for line in found if line.startswith(name + ":")]
        if (expected is None and said) or (expected is not None and not any(expected in line for line in said)):
            wrong.append(f"{name}: wanted {expected!r}, got {said}")
    print("\n".join(wrong) or f"check_includes: self-test of {len(cases)} files passed")
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    found = check(root)
    if found:
        print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
