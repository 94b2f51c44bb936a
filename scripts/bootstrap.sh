#!/usr/bin/env bash
# Installs what a fresh Debian 12 machine lacks. Quiet and quick when nothing is missing; safe to run again.
#   scripts/bootstrap.sh [--demo | --test | --verify | --cuda]
# --demo installs what building and running the program needs, with CUDA's compiler if there is an NVIDIA driver.
# --test (the default) adds the second compiler, the checkers, the test libraries, a JDK with Maven, and a Python
# environment in .venv with the packages of requirements-test.txt.
# --verify adds a browser and the packages of requirements-verify.txt, which are large.
# --cuda is --demo with CUDA's compiler in any case. That compiler is the system's (CUDACXX, the path,
# /usr/local/cuda), else it comes from the wheels of requirements-cuda.txt in .venv.
# Rust's cargo, for the plug-in for files, is taken where it is (rustup's or the system's) and never installed.
# STOPE_SKIP_BOOTSTRAP=1 leaves everything as it is: on other systems, install the packages named here by hand.
set -euo pipefail
cd "$(dirname "$0")/.."

build_packages=(clang-19 cmake ninja-build make zlib1g-dev libzstd-dev nlohmann-json3-dev libcli11-dev libfmt-dev
  libeigen3-dev)
test_packages=(git ccache g++ lld-19 clang-format-19 libclang-rt-19-dev llvm-19 libgtest-dev
  libbenchmark-dev libmpfr-dev abigail-tools zstd curl openssl python3 python3-dev python3-venv openjdk-17-jdk-headless maven)

verify_packages=(chromium libgl1 libxtst6) # the last two: Qt, which Orange draws with
want_verify=no
case "${1:---test}" in
  --demo) packages=("${build_packages[@]}") want_python=no want_cuda=no ;;
  --cuda) packages=("${build_packages[@]}") want_python=no want_cuda=yes ;;
  --verify) packages=("${build_packages[@]}" "${test_packages[@]}" "${verify_packages[@]}")
    want_python=yes want_cuda=yes want_verify=yes ;;
  --test) packages=("${build_packages[@]}" "${test_packages[@]}") want_python=yes want_cuda=yes ;;
  *) echo "bootstrap: unknown option '$1' (--demo, --test, --verify or --cuda)" >&2; exit 2 ;;
esac
[ "${STOPE_SKIP_BOOTSTRAP:-0}" = 1 ] && exit 0
scripts/has_nvidia_driver.sh && want_cuda=yes
want_wheels=no
# Whether the system has a CUDA compiler that cmake/StopeCuda.cmake takes (STOPE_LEAST_CUDA).
has_cuda_compiler() {
  local nvcc
  for nvcc in ${CUDACXX:-} nvcc /usr/local/cuda/bin/nvcc; do
    command -v "$nvcc" >/dev/null && "$nvcc" --version | grep -qE 'release (1[2-9]|[2-9][0-9])\.' && return
  done
  return 1
}
if [ $want_cuda = yes ] && ! has_cuda_compiler; then
  want_wheels=yes
  packages+=(g++ python3 python3-venv)
fi

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "bootstrap: this is not a Debian system. Install the counterparts of these packages yourself, then set" \
    "STOPE_SKIP_BOOTSTRAP=1: ${packages[*]}" >&2
  exit 1
fi

# One query asks for all packages; the answer lacks those that dpkg does not know.
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null || true)
missing=()
for package in "${packages[@]}"; do
  [[ $'\n'"$installed"$'\n' == *$'\n'"installed $package"$'\n'* ]] || missing+=("$package")
done

if [ ${#missing[@]} -gt 0 ]; then
  as_root=()
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "bootstrap: these packages are missing, and neither root nor sudo is at hand. As root run:" >&2
      echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  echo "bootstrap: installing ${missing[*]}"
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  install() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 install -y \
      --no-install-recommends "${missing[@]}" >"$log" 2>&1
  }
  # The package lists of a fresh image may be empty or old. They are refreshed only if the first attempt fails.
  if ! install && ! { "${as_root[@]}" apt-get -qq update >"$log" 2>&1 && install; }; then
    tail -n 20 "$log" >&2
    echo "bootstrap: apt-get could not install: ${missing[*]}" >&2
    exit 1
  fi
fi

# install_python FILE: installs the packages that a file of requirements names into .venv, again only if the file
# changes. It names Debian's own interpreter by its path: the first python3 in PATH may be another version, without the
# venv module or without these packages.
install_python() {
  local file=$1 python=/usr/bin/python3
  cmp -s "$file" ".venv/$file" && return
  echo "bootstrap: installing $file into .venv"
  [ -x "$python" ] || python=$(command -v python3)
  .venv/bin/python -m pip --version >/dev/null 2>&1 || { rm -rf .venv && "$python" -m venv .venv; }
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --requirement "$file"
  cp "$file" ".venv/$file"
}
[ "$want_python" = no ] || install_python requirements-test.txt
[ $want_verify = no ] || install_python requirements-verify.txt
[ $want_wheels = no ] || install_python requirements-cuda.txt
