#!/usr/bin/env bash
# Removes everything that was built, and the test environment.
set -euo pipefail
cd "$(dirname "$0")/.."
rm -rf build .venv
