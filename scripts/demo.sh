#!/usr/bin/env bash
# Builds the program (library and command line only) and shows it on real tables. Installs what is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
shared=$(realpath -m "${STOPE_SHARED:-../shared}")

scripts/bootstrap.sh --demo
[ -x build/release/cli/stope ] || echo "Building stope (a few minutes, once) ..."
scripts/release.sh
stope=$PWD/build/release/cli/stope
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

bold() { if [ -t 1 ]; then printf '\n\033[1m%s\033[0m\n' "$*"; else printf '\n%s\n' "$*"; fi; }
# Shows a command as a user would type it, and runs it.
show() {
  local word
  printf '$ stope'
  for word in "$@"; do
    case $word in
      *[!A-Za-z0-9_./,=-]*) printf " '%s'" "$word" ;;
      *) printf ' %s' "$word" ;;
    esac
  done
  printf '\n'
  "$stope" "$@"
}

cp examples/data/*.csv "$work"
cd "$work"

bold "Labour negotiations, 30 + 10 rows: 8 numeric and 8 nominal attributes, a third of the cells missing"
show info labor-train.csv --target class
show classify labor-train.csv labor-test.csv --target class -k 3 --metric gower --explain -o predictions.csv
echo "predictions.csv:"
head -n 4 predictions.csv

bold "Iris, 120 + 30 rows: numeric"
show classify iris-train.csv iris-test.csv --target species -k 5 --explain -o predictions.csv

if [ -r "$shared/data/mixed/adult-train.csv" ]; then
  bold "Adult, 32,561 + 16,281 rows: 6 numeric and 8 nominal attributes, some missing"
  # The test file's labels end in a dot.
  sed '/^$/d' "$shared/data/mixed/adult-train.csv" >adult-train.csv
  sed '/^$/d; s/\.$//' "$shared/data/mixed/adult-test.csv" >adult-test.csv
  names=age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain
  names=$names,capital-loss,hours-per-week,native-country,income
  show classify adult-train.csv adult-test.csv --names "$names" --missing '?' --target income \
    --ignore fnlwgt -k 15 --normalize range --explain -o predictions.csv
fi

bold "Done in $SECONDS s. 'make install PREFIX=DIR' installs the program. To call it as stope in this shell:"
printf 'export PATH=%q:"$PATH"\n' "${stope%/*}"
