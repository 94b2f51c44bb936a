"""``python -m stope.accel [--always] [--quiet] [--summary FILE] SCRIPT [ARGUMENTS]``, or ``-m MODULE``: zero-change mode."""

import argparse
import os
import runpy
import sys


def _arguments(argv):
    parser = argparse.ArgumentParser(
        prog="python -m stope.accel",
        usage="%(prog)s [--always] [--quiet] [--summary FILE] (SCRIPT | -m MODULE) [ARGUMENTS...]",
        description="Run a Python program whose calls to scikit-learn stope answers where the result is the same. A "
        "table on stderr says at the end which calls these were.",
    )
    parser.add_argument("-m", dest="module", action="store_true", help="SCRIPT is the name of a module, as with python -m")
    parser.add_argument("--always", action="store_true", help="answer also what scikit-learn answers sooner")
    parser.add_argument("--quiet", action="store_true", help="print no table")
    parser.add_argument("--summary", metavar="FILE", help="write the table to FILE instead of stderr")
    parser.add_argument("program", metavar="SCRIPT", help="the program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGUMENTS", help="what the program gets")
    return parser.parse_args(argv)


def _report(options):
    from . import summary

    if options.summary:
        with open(options.summary, "w", encoding="utf-8") as file:
            print(summary(), file=file)
    elif not options.quiet:
        print(summary(), file=sys.stderr)


def _put_first(folder):
    """Make the script's folder the first of the path, in the place of the current one that ``python -m`` put there."""
    if getattr(sys.flags, "safe_path", False):
        return
    sys.path[0] = folder


def main(argv=None):
    options = _arguments(argv)
    from . import install

    install(always=options.always)
    sys.argv = [options.program, *options.arguments]
    try:
        if options.module:
            runpy.run_module(options.program, run_name="__main__", alter_sys=True)
        else:
            _put_first(os.path.dirname(os.path.realpath(options.program)))
            runpy.run_path(options.program, run_name="__main__")
    finally:
        _report(options)


if __name__ == "__main__":
    main()
