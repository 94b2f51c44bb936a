#!/usr/bin/env bash
# Measures the peak memory of every command at three memory limits and three shapes of tables, and prints a table. Fails
# if a run holds more than its limit and 64 MB, or is refused without saying how many bytes it needs. Takes minutes.
#   scripts/limits.sh [--shape rows|columns|classes] [--only TEXT] [--verbose]
# STOPE_BIN names the program; without it, that of the release build, which is built first.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -n "${STOPE_BIN:-}" ] || scripts/build.sh release stope_cli
exec python3 scripts/limits.py "${STOPE_BIN:-build/release/cli/stope}" "$@"
