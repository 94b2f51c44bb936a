"""Writes the type stub of the native module: make_stub.py FOLDER-OF-THE-MODULE OUTPUT. CMakeLists.txt calls it.

nanobind describes the functions as they are bound. Some want a parameter that follows optional ones, which Python's
syntax forbids: it is shown as optional, too.
"""

import pathlib
import subprocess
import sys


def parts(text):
    """The text's parts between its commas, except those within brackets and quotes."""
    found, depth, quote = [""], 0, None
    for letter in text:
        if quote:
            quote = None if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and depth == 0:
            found.append("")
            continue
        found[-1] += letter
    return [part.strip() for part in found]


def mended(line):
    """A line of the stub, in which all parameters after an optional one are optional."""
    begin, end = line.find("("), line.rfind(") -> ")
    if not line.lstrip().startswith("def ") or end < 0:
        return line
    parameters, optional = parts(line[begin + 1:end]), False
    for index, parameter in enumerate(parameters):
        if parameter.startswith("*"):
            break
        has_default = len(parameter.split(" = ")) > 1
        if optional and parameter != "/" and not has_default:
            parameters[index] += " = ..."
        optional = optional or has_default
    return f"{line[:begin]}({', '.join(parameters)}{line[end:]}"


def main():
    folder, output = sys.argv[1:]
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "_core", "-i", folder, "-o", output], check=True)
    path = pathlib.Path(output)
    path.write_text("\n".join(map(mended, path.read_text(encoding="utf-8").split("\n"))), encoding="utf-8")


if __name__ == "__main__":
    main()
