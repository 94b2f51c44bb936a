#!/usr/bin/env bash
# Builds the release and installs it under a prefix: scripts/install.sh [PREFIX], by default /usr/local.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/bootstrap.sh --demo
STOPE_FILES=${STOPE_FILES:-AUTO} scripts/release.sh
cmake --install build/release --prefix "${1:-/usr/local}" | tail -n 1
