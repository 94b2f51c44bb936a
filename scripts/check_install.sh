#!/usr/bin/env bash
# Checks an installation: scripts/check_install.sh PREFIX BUILD_FOLDER. The program runs from anywhere, the man page and
# the completions are there, and examples/cpp builds against find_package(stope) and runs.
set -uo pipefail
cd "$(dirname "$0")/.."
prefix=$1 build=$2
data=$PWD/examples/data
failed=0
check() {
  local what=$1
  shift
  if "$@"; then echo "PASS $what"; else echo "FAIL $what"; failed=1; fi
}
build_example() {
  rm -rf "$build"
  cmake -S examples/cpp -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" >/dev/null &&
    cmake --build "$build" >/dev/null
}
run_example() {
  local said
  said=$("$build/classify_labor" "$data/labor-train.csv" "$data/labor-test.csv" class) && echo "$said"
  grep -q 'of 10 right' <<<"$said"
}
bad_example() { "$build/classify_labor" nowhere.csv nowhere.csv class 2>/dev/null; [ $? -eq 3 ]; }
# No header may need another one to be included first.
headers_alone() {
  local header
  for header in "$prefix"/include/stope/*.hpp; do
    echo "#include <stope/${header##*/}>" |
      g++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I "$prefix/include" -x c++ - || return 1
  done
}
program_runs() { (cd / && env -u LD_LIBRARY_PATH "$prefix/bin/stope" --version); }
man_page() { find "$prefix/share/man" -name 'stope.1*' | grep -q .; }
completions() {
  local name
  for name in bash-completion/completions/stope zsh/site-functions/_stope fish/vendor_completions.d/stope.fish; do
    [ -s "$prefix/share/$name" ] || { echo "share/$name is missing"; return 1; }
  done
}
check "installed program runs" program_runs
check "man page" man_page
check "completions" completions
check "every public header compiles alone" headers_alone
check "example builds with find_package(stope)" build_example
check "example runs" run_example
check "example reports a missing file with exit code 3" bad_example
exit $failed
