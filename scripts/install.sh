#!/usr/bin/env bash
# Builds the release and installs it under a prefix: scripts/install.sh [PREFIX], /usr/local without one.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/bootstrap.sh --demo
scripts/build.sh demo
cmake --install build/demo --prefix "${1:-/usr/local}" | tail -n 1
