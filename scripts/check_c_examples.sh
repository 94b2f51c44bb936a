#!/usr/bin/env bash
# Checks the C ABI of an installation: scripts/check_c_examples.sh PREFIX BUILD_FOLDER. The header is C99 and C++20, the
# programs of examples/c build with CMake and without it, and print what the installed program says of the same tables.
set -uo pipefail
cd "$(dirname "$0")/.."
prefix=$1 build=$2
stope=$prefix/bin/stope
library=$(dirname "$(find "$prefix" -name libstope.so | head -n 1)")
data=$PWD/examples/data
iris=("$data/iris-train.csv" "$data/iris-test.csv")
labor=("$data/labor-train.csv" "$data/labor-test.csv")
work=$build/runs
failed=0
check() {
  local what=$1
  shift
  if "$@"; then echo "PASS $what"; else echo "FAIL $what"; failed=1; fi
}

# same_cells GOT WANTED: two CSV files have the same columns and cells, numbers to the bit, however they are spelled. The
# column "row" may be absent in one.
same_cells() {
  python3 - "$@" <<'PYTHON'
import csv
import sys


def cells(path):
    rows = list(csv.reader(open(path, encoding="utf-8")))
    return [row[1:] for row in rows] if rows and rows[0][0] == "row" else rows


def value(cell):
    try:
        return float(cell)
    except ValueError:
        return cell


got, wanted = (cells(path) for path in sys.argv[1:])
if len(wanted) < 2:
    sys.exit(f"{sys.argv[2]} has no rows")
if len(got) != len(wanted):
    sys.exit(f"{sys.argv[1]} has {len(got)} rows, not {len(wanted)}")
for number, (one, other) in enumerate(zip(got, wanted), 1):
    if [value(cell) for cell in one] != [value(cell) for cell in other]:
        sys.exit(f"{sys.argv[1]}:{number}: {one}, not {other}")
PYTHON
}

header_is() { echo '#include <stope/stope.h>' | "$1" "$2" -pedantic -Wall -Wextra -Werror -fsyntax-only -I "$prefix/include" -x "$3" -; }
build_with_cmake() {
  rm -rf "$build"
  cmake -S examples/c -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" >/dev/null &&
    cmake --build "$build" >/dev/null && mkdir -p "$work"
}
build_with_cc() {
  local source
  for source in examples/c/*.c; do
    cc -std=c99 -Wall -Werror -I "$prefix/include" "$source" -L "$library" -lstope -lpthread -o "$work/plain" || return 1
  done
}

classify() {
  "$build/classify" "${labor[@]}" class >"$work/got.csv" 2>"$work/said" &&
    "$stope" classify "${labor[@]}" --target class -k 3 --metric gower --normalize range --proba -q >"$work/wanted.csv" &&
    same_cells "$work/got.csv" "$work/wanted.csv" && grep -q '"kind":"neighbors"' "$work/said"
}
discretize() {
  local model=$work/cuts.stope
  "$build/discretize" "${iris[@]}" species >"$work/all.csv" 2>"$work/said" || return 1
  # It prints the ranking, the cuts and the coded rows; each begins with its header.
  awk -v to="$work/part" '/^(attribute|name|sepal_length),[a-z]/ {++n} {print >to n ".csv"}' "$work/all.csv"
  "$stope" discretize "${iris[0]}" --target species --method best-cut --permutations 200 --seed 1 -q -o "$work/ranking.csv" || return 1
  # The library's ranking has two columns more: values of nominal attributes, and p-values of the whole family.
  cut -d, -f1-4,6,8 "$work/part1.csv" | sed '1s/attribute/attr/' >"$work/got.csv"
  same_cells "$work/got.csv" "$work/ranking.csv" || return 1
  "$stope" discretize "${iris[0]}" --target species --method mdlp --labels --model-out "$model" -q -o "$work/coded-train.csv" &&
    "$stope" predict "$model" "${iris[1]}" -q -o "$work/coded.csv" &&
    same_cells "$work/part3.csv" "$work/coded.csv" || return 1
  grep -q "code 1, option 'methd': .*did you mean 'method'" "$work/said"
}
least_squares() {
  "$build/least_squares" "${iris[@]}" petal_width >"$work/all.csv" 2>"$work/said" || return 1
  awk -v to="$work/part" '/^(kind|prediction)/ {++n} {print >to n ".csv"}' "$work/all.csv"
  "$stope" lsq "${iris[0]}" --target petal_width --ignore species --standard-errors -q --model-out "$work/lsq.stope" \
    -o "$work/coefficients.csv" && same_cells "$work/part1.csv" "$work/coefficients.csv" &&
    "$stope" predict "$work/lsq.stope" "${iris[1]}" -q -o "$work/predicted.csv" &&
    same_cells "$work/part2.csv" "$work/predicted.csv" && grep -q 'cm: 0.227$' "$work/said"
}
neighbors() {
  "$build/neighbors" "${iris[@]}" >"$work/got.csv" 2>"$work/said" &&
    "$stope" knn "${iris[@]}" --ignore species -k 3 -q >"$work/wanted.csv" &&
    same_cells "$work/got.csv" "$work/wanted.csv" || return 1
  "$stope" knn "${iris[@]}" --ignore species --radius 0.5 -q >"$work/within.csv"
  grep -q "have $(($(wc -l <"$work/within.csv") - 1)) neighbours within 0.5" "$work/said"
}
pca() {
  "$build/pca" "$data/iris.csv" 4 >"$work/got.csv" 2>"$work/said" &&
    "$stope" pca "$data/iris.csv" --ignore species --n-components 2 -q -o "$work/wanted.csv" &&
    same_cells "$work/got.csv" "$work/wanted.csv" && grep -q '"explained_variance_ratio"' "$work/said"
}
serve_model() {
  local threads
  "$stope" classify "${iris[@]}" --target species -k 5 -q >"$work/wanted.csv" || return 1
  for threads in 1 2 8; do
    "$build/serve_model" "${iris[@]}" species $threads >"$work/got.csv" 2>"$work/said" &&
      same_cells "$work/got.csv" "$work/wanted.csv" && grep -q '^stopped at ' "$work/said" || return 1
  done
}
statistics() {
  "$build/statistics" "$data/labor.csv" 2>"$work/said" | grep -v '^#' >"$work/got.csv" &&
    "$stope" stats "$data/labor.csv" -q -o "$work/wanted.csv" &&
    same_cells "$work/got.csv" "$work/wanted.csv" && grep -q '"name":"distinct"' "$work/said"
}
tree() {
  "$build/tree" "${iris[@]}" species "$work/tree.stope" >"$work/got.csv" 2>"$work/rules" &&
    "$stope" predict "$work/tree.stope" "${iris[1]}" --proba -q >"$work/wanted.csv" &&
    same_cells "$work/got.csv" "$work/wanted.csv" || return 1
  "$stope" tree "${iris[0]}" --target species --min-samples-leaf 3 --criterion gini --format rules -q -o "$work/wanted" &&
    cmp "$work/rules" "$work/wanted"
}
# The program of docs/C.md, which is followed by what it prints.
document() {
  block() { awk -v begin="^\`\`\`$1\$" '$0 ~ begin && !n++ {on = 1; next} /^```$/ {on = 0} on' docs/C.md; }
  block c >"$work/flowers.c" && block text >"$work/wanted.txt" && [ -s "$work/wanted.txt" ] &&
    cc -std=c99 -pedantic -Wall -Wextra -Werror -I "$prefix/include" "$work/flowers.c" -L "$library" -lstope \
      -Wl,-rpath,"$library" -o "$work/flowers" && "$work/flowers" | cmp - "$work/wanted.txt"
}
# An error ends the program with its message, and usage is asked for with no argument.
bad_input() {
  ! "$build/classify" nowhere.csv nowhere.csv class 2>"$work/said" && grep -q 'nowhere.csv' "$work/said" || return 1
  "$build/tree" 2>/dev/null
  [ $? -eq 2 ]
}

check "the C header is C99" header_is cc -std=c99 c
check "the C header is C++20" header_is c++ -std=c++20 c++
check "options keep their names and types" python3 scripts/check_abi.py --library "$library/libstope.so"
check "C examples build with find_package(stope)" build_with_cmake
check "C examples build with -lstope" build_with_cc
for example in classify discretize least_squares neighbors pca serve_model statistics tree; do
  check "C example $example says what stope says" $example
done
check "C examples end with the error" bad_input
check "the program of docs/C.md prints what the page says" document
exit $failed
