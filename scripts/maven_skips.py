#!/usr/bin/env python3
"""Names the tests that Maven skipped, and why, one a line as pytest does it: scripts/maven_skips.py FOLDER..., the folders
of surefire's reports. Maven's own log has numbers only, and scripts/suites.sh compares reasons with allowed_skips.txt."""

import pathlib
import sys
import xml.etree.ElementTree as xml


def skips_of(report):
    """Yields (test, reason) of one TEST-*.xml."""
    for case in xml.parse(report).getroot().iter("testcase"):
        skipped = case.find("skipped")
        if skipped is None:
            continue
        text = skipped.get("message") or (skipped.text or "").strip().split("\n")[0]
        for front in ("org.opentest4j.TestAbortedException: ", "Assumption failed: ", "SKIP: ", "SKIP "):
            text = text.removeprefix(front)
        yield f"{case.get('classname')}.{case.get('name')}".replace(" ", ""), text or "no reason is given"


def main():
    for folder in map(pathlib.Path, sys.argv[1:]):
        for report in sorted(folder.glob("TEST-*.xml")):
            for test, reason in skips_of(report):
                print(f"SKIPPED [1] {test}: {reason}")


if __name__ == "__main__":
    main()
