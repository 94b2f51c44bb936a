#!/usr/bin/env python3
"""Writes a C program that calls every function of include/stope/stope.h with every argument wrong in turn.

  make_misuse.py HEADER PROGRAM.c

A pointer is null; a handle is also one that was freed, one of another kind, and an address that is no handle. What each
call must answer follows from the prototype: an argument that may be null is listed in OPTIONAL. A function or a
parameter that this script does not know ends it, so that the program covers whatever is added to the header.
"""
import pathlib
import re
import sys

HANDLES = {"stope_run": "run", "stope_options": "options", "stope_table": "table", "stope_builder": "builder",
           "stope_model": "model", "stope_lists": "lists"}
# Arguments that may be null: of any function, or of one.
OPTIONAL = {"error", "options", "run", "other", "phase", "done", "total", "release", "context", "stream_of_gpu",
            "stope_table_from_array.names", "stope_options_set.value", "stope_lists_copy.offsets",
            "stope_lists_copy.indices", "stope_lists_copy.distances", "stope_run_report.to", "stope_run_warnings.to",
            "stope_predict_of_array.values"}
# Functions whose own object is the run or the options: there they are wanted.
OWN = re.compile(r"stope_(run|options)_")
# What a good call passes, by parameter, or by function and parameter.
VALID = {
    "error": "&error", "phase": "phase", "done": "&done", "total": "&total", "out": "&out", "job": '"pairwise"', "kind": '"classify"',
    "stope_run_set.name": '"threads"', "stope_run_set.value": '"2"', "stope_options_set.name": '"n_neighbors"',
    "stope_options_set.value": '"2"', "stope_options_set_doubles.name": '"feature_weights"', "stope_options_set_doubles.values": "doubles",
    "n": "4", "stope_table_from_array.values": "&array", "names": "names", "release": "release", "context": "&n_released",
    "stope_table_from_file.path": "file_path", "stope_table_to_file.path": "out_path", "stope_model_write.path": "model_path",
    "stope_model_read.path": "model_file", "map": "1", "n_rows_expected": "0", "stope_builder_column.name": '"fresh"',
    "type": '"nominal"', "values": "names", "n_values": "2", "role": "0", "rows": "&array", "column": '"x0"',
    "stope_table_copy.column": "0", "stope_table_column_name.column": "0", "stope_table_value.column": "1", "code": "1", "first": "0", "stope_table_copy.out": "&target", "stope_model_table.name": '"train"', "format": '"text"',
    "stope_model_bytes.n": "&done", "to": "bytes", "size": "1", "stope_model_store.n": "n_bytes", "stope_model_load.n": "n_bytes", "bytes": "bytes",
    "n_neighbors": "2", "radius": "1.0", "stope_neighbors_of_array.rows": "&target", "stope_predict_of_array.rows": "&target", "codes": "codes",
    "stope_predict_of_array.values": "doubles", "indices": "indices", "distances": "doubles", "offsets": "offsets", "n_parts": "2",
    "stride": "8", "n_queries": "4", "merged_indices": "merged_indices", "merged_distances": "merged_distances",
    "stream": "&stream", "schema": "&schema", "batch": "&batch", "stope_table_from_arrow_device.batch": "&device_batch",
    "stope_pairwise_distances.out": "&square",
}
# Before a good call: what the structures of Arrow hold, and a builder that has not begun.
BEFORE = {"stope_table_from_arrow": "fill_stream();", "stope_table_from_arrow_array": "fill_batch();",
          "stope_table_from_arrow_device": "fill_batch(); device_batch.array = batch; batch.release = NULL;"}


def functions(header):
    """(result, name, [(type, parameter)]) of every function."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    for found in re.finditer(r"^STOPE_API ([\w\s]+?[\s*]+)(stope_\w+)\((.*?)\);", text, re.M | re.S):
        result, name, parameters = found[1].strip(), found[2], re.sub(r"\s+", " ", found[3]).strip()
        parameters = parameters.replace("void (*release)(void* context)", "RELEASE release")
        parsed = []
        for parameter in [] if parameters == "void" else parameters.split(", "):
            kind, word = re.fullmatch(r"(.*?[\s*])(\w+)(?:\[\d+\])?", parameter).groups()
            is_array = parameter.endswith("]")
            parsed.append((kind.strip() + ("*" if is_array else ""), word))
        yield result, name, parsed


def handle_of(kind):
    base = kind.replace("const ", "").strip()
    return HANDLES.get(base[:-1].strip()) if base.endswith("*") and not base.endswith("**") else None


def valid(function, kind, word):
    if f"{function}.{word}" in VALID:
        return VALID[f"{function}.{word}"]
    if handle := handle_of(kind):
        return f"good_{handle}"
    if word == "out" and kind.endswith("**"):
        return "(void*)&out"
    if word not in VALID:
        sys.exit(f"{function}: make_misuse.py does not know the parameter '{word}'")
    return VALID[word]


def may_be_null(function, word):
    if word in ("run", "options") and OWN.match(function):
        return False
    return word in OPTIONAL or f"{function}.{word}" in OPTIONAL


def expectation(result, name, refused):
    if result == "stope_code":
        return f"EXPECT_CODE({'STOPE_INVALID_ARGUMENT' if refused else 'STOPE_OK'})"
    if result == "int64_t" or name == "stope_run_progress":
        return "EXPECT(result == -1)" if refused else "EXPECT(result >= 0)"
    if "char*" in result:
        return "EXPECT(result == NULL)" if refused else "EXPECT(result != NULL)"
    return "EXPECT(result != 0)" if result == "uint32_t" else "(void)0"


def calls(header):
    for result, name, parameters in functions(header):
        good = [valid(name, kind, word) for kind, word in parameters]
        cases = [("with good arguments", None, None, False)]
        for at, (kind, word) in enumerate(parameters):
            handle = handle_of(kind)
            if "*" not in kind and kind != "RELEASE":
                continue
            cases.append((f"with {word} null", at, "NULL", not may_be_null(name, word)))
            if handle:
                other = "table" if handle != "table" else "model"
                cases += [(f"with {word} freed", at, f"freed_{handle}", True), (f"with {word} of another kind", at, f"(void*)good_{other}", True),
                          (f"with {word} no handle", at, "(void*)&done", True)]
        for what, at, wrong, refused in cases:
            arguments = [wrong if i == at else argument for i, argument in enumerate(good)]
            if name == "stope_model_text":
                arguments[0] = "good_tree" if at != 0 else arguments[0]
            if at is not None and parameters[at][1] == "release":
                arguments[at + 1] = "NULL"
            error_given = "error" in [word for _, word in parameters] and (at is None or parameters[at][1] != "error")
            call = f"{name}({', '.join(arguments)})"
            kept = "" if result == "void" else "result = "
            kind = "void" if result == "void" else "code" if result == "stope_code" else "number" if "int" in result else "text"
            declared = {"void": "", "code": "stope_code result; ", "number": "int64_t result; ", "text": "const char* result; "}[kind]
            yield (f'  {{ {declared}begin("{name} {what}"); {BEFORE.get(name, "")} {kept}{call}; '
                   f"{expectation(result, name, refused)}; {'CHECK_ERROR();' if kind == 'code' and error_given else ''} end(); }}")


def main():
    header, program = (pathlib.Path(path) for path in sys.argv[1:])
    lines = list(calls(header.read_text(encoding="utf-8")))
    parts = [lines[i:i + 40] for i in range(0, len(lines), 40)]  # a compiler takes long for one long function
    text = '#include "misuse.h"\n\n'
    for number, part in enumerate(parts):
        text += f"static void part_{number}(void) {{\n" + "\n".join(part) + "\n}\n"
    text += "int main(int argc, char** argv) {\n  if (!prepare(argc, argv)) return 1;\n"
    text += "".join(f"  part_{number}();\n" for number in range(len(parts)))
    text += f"  return finish({len(lines)});\n}}\n"
    program.parent.mkdir(exist_ok=True)
    program.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
