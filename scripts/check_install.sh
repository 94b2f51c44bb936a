#!/usr/bin/env bash
# Checks an installation: scripts/check_install.sh PREFIX BUILD_FOLDER. The program runs from anywhere, the man pages
# and the completions are there, and the programs of examples/cpp and examples/c build against find_package(stope) and run.
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
run_arrays() {
  local said
  said=$("$build/arrays_in_memory") && echo "$said"
  grep -q 'query 2: flower 5 at' <<<"$said" && grep -q 'one at a time: the same' <<<"$said"
}
bad_example() { "$build/classify_labor" nowhere.csv nowhere.csv class 2>/dev/null; [ $? -eq 3 ]; }
arrow_example() {
  local said
  said=$("$build/arrow_in_and_out" "$data/labor-train.csv" "$data/labor-test.csv" class) && echo "$said"
  grep -q 'of 10 right' <<<"$said"
}
# Another producer and another consumer: pyarrow. It has to come to the same answer as the program.
pyarrow_example() {
  local said
  said=$(.venv/bin/python examples/cpp/arrow_classify.py "$build/libarrow_classify.so" "$data/labor-train.csv" \
    "$data/labor-test.csv" class) && echo "$said"
  [ "${said%%,*}" = "$("$build/arrow_in_and_out" "$data/labor-train.csv" "$data/labor-test.csv" class | sed 's/,.*//')" ]
}
# What the command line predicts with a model, a program with many threads predicts, too.
serve_model() {
  local model=$build/labor.stope rows=$data/labor-test.csv
  "$prefix/bin/stope" classify "$data/labor-train.csv" --target class -k 3 --metric gower --normalize range \
    --model-out "$model" &&
    "$prefix/bin/stope" predict "$model" "$rows" -q | sed -n 's/,/: /; 2,$p' >"$build/expected.txt" || return 1
  local threads
  for threads in 1 2 8; do
    "$build/serve_model" "$model" "$rows" "$threads" | cmp - "$build/expected.txt" || return 1
  done
  [ "$(wc -l <"$build/expected.txt")" -eq 10 ]
}
# No header may need another one to be included first.
headers_alone() {
  local header
  for header in "$prefix"/include/stope/*.hpp; do
    echo "#include <stope/${header##*/}>" |
      g++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I "$prefix/include" -x c++ - || return 1
  done
}
program_runs() { (cd / && env -u LD_LIBRARY_PATH "$prefix/bin/stope" --version); }
man_pages() {
  local page
  for page in man1/stope.1 man1/stope-knn.1 man1/stope-tree.1 man7/stope-measures.7; do
    [ -s "$prefix/share/man/$page" ] || { echo "share/man/$page is missing"; return 1; }
  done
}
completions() {
  local name
  for name in bash-completion/completions/stope zsh/site-functions/_stope fish/vendor_completions.d/stope.fish; do
    [ -s "$prefix/share/$name" ] || { echo "share/$name is missing"; return 1; }
  done
}
check "installed program runs" program_runs
check "man pages" man_pages
check "completions" completions
check "every public header compiles alone" headers_alone
check "example builds with find_package(stope)" build_example
check "example runs" run_example
check "example takes and gives Arrow streams" arrow_example
check "example classifies the tables of pyarrow" pyarrow_example
check "example of arrays in memory runs" run_arrays
check "a saved model is served to many threads" serve_model
check "example reports a missing file with exit code 3" bad_example
scripts/check_c_examples.sh "$prefix" "$build-c" || failed=1
exit $failed
