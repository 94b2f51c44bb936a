#!/usr/bin/env bash
# Builds the release in build/release: library and command line, with --tests also the tests and, where cargo is, the
# plug-in for files, whose crates take minutes. With an NVIDIA driver it builds the CUDA plug-in, too. make demo, make test
# and make install share that folder, so that none compiles again what another has compiled. Continuous integration
# installs nothing: it joins the tests' sources, and leaves that plug-in unoptimised.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" = --tests ]; then
  export STOPE_TESTS=ON STOPE_FILES=${STOPE_FILES:-AUTO}
  # The Python module is built along, on all cores, rather than by the first suite that needs it.
  ! .venv/bin/python -c 'import nanobind' 2>/dev/null || export STOPE_PYTHON=${STOPE_PYTHON:-ON}
elif [ ! -f build/release/CMakeCache.txt ]; then # tests that are there already stay, and so does the plug-in for files
  export STOPE_TESTS=OFF STOPE_FILES=${STOPE_FILES:-OFF}
fi
if scripts/has_nvidia_driver.sh; then export STOPE_CUDA=${STOPE_CUDA:-AUTO}; else export STOPE_CUDA=${STOPE_CUDA:-OFF}; fi
if [ -n "${STOPE_CI:-}" ]; then
  export STOPE_JOIN=TESTS STOPE_QUICK=files
else
  export STOPE_JOIN=OFF STOPE_QUICK=''
fi
exec scripts/build.sh release
