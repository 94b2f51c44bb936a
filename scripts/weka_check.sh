#!/usr/bin/env bash
# Installs the zip of scripts/weka.sh by WEKA's package manager into a folder of its own, and uses it from WEKA's command
# line: a model that one JVM has written predicts in another one what IBk predicts.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v mvn >/dev/null || ! command -v javac >/dev/null; then
  echo "SKIP the WEKA package in WEKA: Maven or a JDK is missing (scripts/bootstrap.sh --test installs them)"
  exit 0
fi

version=$(sed -n 's/^#define STOPE_VERSION "\(.*\)"$/\1/p' include/stope/version.hpp)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEKA_HOME="$work/wekafiles"
weka() { java -Djava.awt.headless=true -Xmx512m -cp "$(cat build/weka/weka.classpath)" "$@" 2>>"$work/log"; }
fail() {
  echo "FAIL $1"
  tail -n 20 "$work/log"
  exit 1
}

weka weka.core.WekaPackageManager -offline -install-package build/weka/stope.zip >"$work/install" || fail "the package manager"
[ -f "$WEKA_HOME/packages/stope/lib/stope-$version.jar" ] || fail "the package is not complete: $(cat "$work/install")"
weka weka.core.WekaPackageManager -offline -list-packages installed >"$work/list" || fail "the list of packages"
grep -q 'stope' "$work/list" || fail "the package is not in the list of installed ones: $(cat "$work/list")"

table() {
  weka weka.Run weka.datagenerators.classifiers.classification.RandomRBF -S "$1" -n "$2" -a 6 -o "$work/$3.arff" >/dev/null ||
    fail "the table"
}
table 1 900 all
weka weka.Run weka.filters.unsupervised.instance.RemovePercentage -P 34 -i "$work/all.arff" -o "$work/train.arff" >/dev/null ||
  fail "the training table"
weka weka.Run weka.filters.unsupervised.instance.RemovePercentage -V -P 34 -i "$work/all.arff" -o "$work/test.arff" >/dev/null ||
  fail "the test table"
for classifier in .StopeIBk weka.classifiers.lazy.IBk; do
  weka weka.Run $classifier -K 5 -I -t "$work/train.arff" -no-cv -v -d "$work/knn.model" >/dev/null || fail "$classifier"
  weka weka.Run $classifier -l "$work/knn.model" -T "$work/test.arff" -p 0 -distribution >"$work/$classifier" ||
    fail "the saved model of $classifier"
done
[ "$(grep -c ':' "$work/.StopeIBk")" -ge 300 ] || fail "StopeIBk did not predict all rows"
cmp "$work/.StopeIBk" "$work/weka.classifiers.lazy.IBk" || fail "StopeIBk and IBk differ"
weka weka.Run .StopeTree -t "$work/train.arff" -no-cv -g >"$work/graph" || fail "StopeTree"
grep -q '^digraph' "$work/graph" || fail "StopeTree has drawn no graph"
weka weka.Run .SupervisedDiscretize -M md-local -c last -i "$work/train.arff" -o "$work/coded.arff" >/dev/null || fail "the filter"
grep -q "^@attribute a0 {" "$work/coded.arff" || fail "the filter has cut nothing"
echo "build/weka/stope.zip: installed by WEKA's package manager; StopeIBk predicts what IBk does"
