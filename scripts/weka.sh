#!/usr/bin/env bash
# Builds and tests the WEKA package (extensions/weka) after the JVM binding that it contains: scripts/weka.sh [MAVEN
# ARGUMENT...] leaves build/weka/stope.zip. Then it installs the zip by WEKA's package manager into a folder of its own,
# and compares predictions with those of IBk. -Dweka.examples=FOLDER names WEKA's sample tables if they are elsewhere.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v mvn >/dev/null || ! command -v javac >/dev/null; then
  echo "SKIP the WEKA package: Maven or a JDK is missing (scripts/bootstrap.sh --test installs them)"
  exit 0
fi

version=$(sed -n 's/^#define STOPE_VERSION "\(.*\)"$/\1/p' include/stope/version.hpp)
if ! grep -qxF "  <version>$version</version>" extensions/weka/pom.xml; then
  echo "FAIL extensions/weka/pom.xml does not have version $version of include/stope/version.hpp"
  exit 1
fi
shared=$(realpath -m "${STOPE_SHARED:-../shared}")
scripts/jvm.sh -q -DskipTests "$@"
mvn --batch-mode --no-transfer-progress -Dstyle.color=never -f extensions/weka/pom.xml package "-Dstope.shared=$shared" "$@"
if [[ " $* " == *" -DskipTests "* ]]; then
  exit 0
fi

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
table 1 900 train
# A model that one JVM has written predicts in another one, and what it predicts is what IBk does.
weka weka.Run .StopeIBk -K 5 -I -t "$work/train.arff" -no-cv -v -d "$work/knn.model" >/dev/null || fail "StopeIBk"
weka weka.Run .StopeIBk -l "$work/knn.model" -T "$work/train.arff" -p 0 -distribution >"$work/ours" || fail "the saved model"
weka weka.Run weka.classifiers.lazy.IBk -K 5 -I -t "$work/train.arff" -no-cv -v -T "$work/train.arff" -p 0 -distribution \
  >"$work/theirs" || fail "IBk"
[ "$(grep -c ':' "$work/ours")" -ge 900 ] || fail "StopeIBk did not predict all rows"
cmp "$work/ours" "$work/theirs" || fail "StopeIBk and IBk differ"
weka weka.Run .StopeTree -t "$work/train.arff" -no-cv -g >"$work/graph" || fail "StopeTree"
grep -q '^digraph' "$work/graph" || fail "StopeTree has drawn no graph"
weka weka.Run .SupervisedDiscretize -M md-local -c last -i "$work/train.arff" -o "$work/coded.arff" >/dev/null || fail "the filter"
grep -q "^@attribute a0 {" "$work/coded.arff" || fail "the filter has cut nothing"
echo "build/weka/stope.zip: installed by WEKA's package manager; StopeIBk predicts what IBk does"
