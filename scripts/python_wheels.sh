#!/usr/bin/env bash
# Makes the Python package as it is published, and installs it as users do: scripts/python_wheels.sh [--cuda]
# The source distribution is unpacked in build/sdist, without git, and wheels are built from it: one for CPython 3.12 and
# later if there is such an interpreter, one for the interpreter of .venv. They come to lie in build/wheels. Each is
# installed into an empty environment without a compiler. --cuda builds the plug-in into them, for all GPUs of a release
# or those of STOPE_CUDA_ARCHS (90a-real).
set -euo pipefail
cd "$(dirname "$0")/.."
top=$PWD
python=$top/.venv/bin/python
for module in nanobind scikit_build_core build auditwheel; do
  if ! $python -c "import $module" 2>/dev/null; then
    echo "SKIP the wheels: $module is missing (scripts/bootstrap.sh --test installs it into .venv)"
    exit 0
  fi
done
settings=("--config-settings=cmake.args=-DCMAKE_CXX_COMPILER=g++;-DSTOPE_WERROR=ON")
if [ "${1:-}" = --cuda ]; then
  archs=${STOPE_CUDA_ARCHS:-$(sed -n 's/.*"STOPE_CUDA_ARCHS": "\([^"]*\)".*/\1/p' CMakePresets.json)} # of the preset "ship"
  export STOPE_CUDA=ON CMAKE_ARGS="-DSTOPE_CUDA_ARCHS=$archs"
  # The unpacked sources have no .venv, in which CMake would look.
  nvcc=$(ls "$top"/.venv/lib/python3*/site-packages/nvidia/cu*/bin/nvcc 2>/dev/null | head -n 1 || true)
  [ -z "$nvcc" ] || command -v nvcc >/dev/null || export CUDACXX=${CUDACXX:-$nvcc}
fi
# With these, ccache knows the objects of build/gcc, whose folder lies as deep.
export CCACHE_BASEDIR=$top CCACHE_DEPEND=1 CMAKE_BUILD_PARALLEL_LEVEL=${STOPE_JOBS:-$(nproc)}
failed=0
fail() { echo "FAIL $*"; failed=1; }

# interpreter LEAST: the path of an interpreter of that version of CPython or a later one, with its headers.
interpreter() {
  local least=$1 candidate
  for candidate in "$python" /usr/bin/python3 python3.{12,13,14} "$HOME"/.pyenv/versions/3.*/bin/python; do
    "$candidate" -c "import sys, os, sysconfig; sys.exit(sys.version_info < tuple(map(int, '$least'.split('.'))) or not
      os.path.exists(sysconfig.get_path('include') + '/Python.h'))" 2>/dev/null && { echo "$candidate"; return; }
  done
  return 1
}

# The source distribution: only files that have changed are written to build/sdist, so that little is compiled again.
rm -rf build/wheels && mkdir -p build/wheels build/sdist
$python -m build --no-isolation --sdist --outdir build/wheels . >build/sdist.log 2>&1 ||
  { tail -n 20 build/sdist.log; echo "FAIL the source distribution"; exit 1; }
sdist=$(ls build/wheels/stope-*.tar.gz)
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
tar xzf "$sdist" -C "$fresh" --strip-components 1
$python - "$fresh" build/sdist <<'END'
import pathlib, shutil, sys
new, old = map(pathlib.Path, sys.argv[1:])
names = {path.relative_to(new) for path in new.rglob("*") if path.is_file()}
for path in [path for path in old.rglob("*") if path.is_file()]:
    name = path.relative_to(old)
    if name.parts[0] != "build" and name not in names:
        path.unlink()
for name in names:
    if not (old / name).is_file() or (old / name).read_bytes() != (new / name).read_bytes():
        (old / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(new / name, old / name)
END
known='CMakeLists.txt|LICENSE|PKG-INFO|README.md|bindings|cmake|include|pyproject.toml|src'
strange=$(cd "$fresh" && ls -A . bindings | grep -vE "^($known|python|\\.:|bindings:|)\$" || true)
[ -z "$strange" ] && echo "PASS source distribution, $(($(stat -c %s "$sdist") / 1000)) kB" ||
  fail "the source distribution holds" $strange

# make_wheel INTERPRETER: builds its wheel, and sets `wheel` to the file.
make_wheel() {
  local tools=$1 out=$fresh/out
  if [ "$1" != "$python" ]; then # an environment with the tools, which stays
    tools=build/wheel-tools-$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    [ -x "$tools/bin/python" ] || "$1" -m venv "$tools"
    tools=$top/$tools/bin/python
    "$tools" -m pip install --quiet --disable-pip-version-check "${tools_wanted[@]}" || return 1
  fi
  rm -rf "$out"
  "$tools" -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps --wheel-dir "$out" \
    "${settings[@]}" ./build/sdist >build/wheel.log 2>&1 || { tail -n 20 build/wheel.log; return 1; }
  wheel=build/wheels/$(basename "$out"/*.whl)
  # auditwheel says which Linux the wheel is for, and gives it the name.
  if PATH=$top/.venv/bin:$PATH $python -m auditwheel repair --wheel-dir build/wheels --plat manylinux_2_28_"$(uname -m)" "$out"/*.whl \
    >build/auditwheel.log 2>&1; then
    wheel=$(ls -t build/wheels/*.whl | head -n 1)
  else
    cp "$out"/*.whl build/wheels/
    tail -n 3 build/auditwheel.log
    fail "auditwheel: $wheel is not for manylinux_2_28"
  fi
}

# try_wheel INTERPRETER WHEEL PACKAGE...: installs it beside these packages into an empty environment, where PATH leads
# to no compiler, and fits an estimator.
try_wheel() {
  local environment=$fresh/environment name
  name="$(basename "$2") in $("$1" -c 'import platform; print(platform.python_version())') with ${*:3}"
  rm -rf "$environment"
  "$1" -m venv "$environment"
  if ! "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: "${@:3}" >build/pip.log 2>&1; then
    tail -n 3 build/pip.log
    echo "SKIP $name: pip could not install ${*:3}"
    return
  fi
  if (cd "$fresh" && env -i PATH="$environment/bin" HOME="$fresh" "$BASH" -euc '
    python -m pip install --quiet --disable-pip-version-check --no-index "$1"
    python -m pip check
    python "$2"' bash "$top/$2" "$top/scripts/try_package.py"); then
    echo "PASS $name"
  else
    fail "$name"
  fi
}

tools_wanted=()
for module in nanobind scikit-build-core; do
  tools_wanted+=("$(grep -i "^$module==" requirements-test.txt)")
done
made=0
for least in 3.12 3.10; do
  if ! chosen=$(interpreter $least); then
    echo "SKIP the wheel for CPython $least and later: there is no such interpreter with headers"
    continue
  fi
  make_wheel "$chosen" || { fail "the wheel of $chosen"; continue; }
  $python scripts/check_wheel.py "$wheel" || failed=1
  try_wheel "$chosen" "$wheel" numpy
  try_wheel "$chosen" "$wheel" numpy scikit-learn
  made=1
done
# The wheel of the stable ABI in the newest interpreter, too.
newest=$(ls -d "$HOME"/.pyenv/versions/3.1[3-9]*/bin/python 2>/dev/null | sort -V | tail -n 1)
stable=$(ls build/wheels/*-abi3-*.whl 2>/dev/null || true)
[ -z "$newest" ] || [ -z "$stable" ] || try_wheel "$newest" "$stable" numpy scikit-learn
[ $made = 1 ] && [ $failed = 0 ]
