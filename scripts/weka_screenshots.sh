#!/usr/bin/env bash
# Draws WEKA's Explorer with the package into a folder (default: docs/images): scripts/weka_screenshots.sh [FOLDER]. It
# needs Xvfb (Debian: xvfb) and the zip of scripts/weka.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-docs/images}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEKA_HOME="$work/wekafiles"
weka=$(cat build/weka/weka.classpath)
mkdir -p "$work/classes" "$folder"
java -Djava.awt.headless=true -cp "$weka" weka.core.WekaPackageManager -offline -install-package build/weka/stope.zip >/dev/null
javac -nowarn -encoding UTF-8 -cp "$weka" -d "$work/classes" extensions/weka/check/org/stope/weka/check/Screenshots.java
cut -d, -f2- extensions/rapidminer/samples/orchard.csv >"$work/orchard.csv"
timeout 300 xvfb-run -a -s "-screen 0 1280x900x24" java -Xmx1g -Duser.home="$work" -cp "$work/classes:$weka" \
  org.stope.weka.check.Screenshots "$work/orchard.csv" "$folder" 2>"$work/log" || {
  tail -n 20 "$work/log" >&2
  exit 1
}
