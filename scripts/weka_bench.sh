#!/usr/bin/env bash
# Measures StopeIBk against WEKA's IBk with each of its searches, and prints a table: scripts/weka_bench.sh [ROWS COLUMNS
# QUERIES RIVAL_QUERIES K]. It needs the jars of scripts/weka.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^#define STOPE_VERSION "\(.*\)"$/\1/p' include/stope/version.hpp)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
jars="build/weka/stope-weka-$version.jar:build/jvm/stope-$version.jar:$(cat build/weka/weka.classpath)"
export WEKA_HOME="$work/wekafiles"
javac -nowarn -encoding UTF-8 -cp "$jars" -d "$work" extensions/weka/check/org/stope/weka/check/Bench.java
java -Djava.awt.headless=true -Xmx4g -cp "$work:$jars" org.stope.weka.check.Bench "${1:-50000}" "${2:-20}" "${3:-20000}" \
  "${4:-500}" "${5:-5}" 2>"$work/log" || {
  tail -n 20 "$work/log" >&2
  exit 1
}
