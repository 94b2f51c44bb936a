#!/usr/bin/env bash
# Compares the extension with the operators of a real RapidMiner: scripts/rapidminer_check.sh [PART...].
# RAPIDMINER_HOME is the folder of a RapidMiner 5.3 (docs/RAPIDMINER.md says how to build one); without it nothing is
# checked. Golden data sets are those under STOPE_SHARED (default: ../shared). STOPE_CASES is the number of random tables
# (default: 200). Parts: see extensions/rapidminer/check/.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${RAPIDMINER_HOME:-}" ]; then
  echo "SKIP the extension in a real RapidMiner: RAPIDMINER_HOME is not set"
  exit 0
fi
libraries="$RAPIDMINER_HOME/lib/*:$RAPIDMINER_HOME/lib/jdbc/*:$RAPIDMINER_HOME/lib/freehep/*"
goldens=${STOPE_SHARED:-../shared}/goldens/rapidminer
[ -d "$goldens" ] && goldens=$(cd "$goldens" && pwd) || goldens=-

# The classes must not depend on what they were compiled against.
built=build/rapidminer/plugin/classes/org/stope/rapidminer
env -u RAPIDMINER_HOME scripts/rapidminer.sh -q -DskipTests
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$built" "$work/signatures"
rm -rf "$built"
mvn -q --batch-mode -Dstyle.color=never -f extensions/rapidminer/pom.xml package -DskipTests
diff -r "$work/signatures" "$built"
echo "PASS same classes from RapidMiner's jar and from the signatures"

mkdir -p "$work/plugins" "$work/user/.RapidMiner5" "$work/classes"
cp build/rapidminer/plugin/stope-rapidminer-*.jar "$work/plugins"
printf 'rapidminer.init.plugins=true\nrapidminer.init.plugins.location=%s\n' "$work/plugins" > "$work/rapidminerrc"
options=(-Duser.home="$work/user" -Djava.awt.headless=true -Drapidminer.home="$RAPIDMINER_HOME"
  -Drapidminer.rcfile="$work/rapidminerrc")

# The sample, as a user starts it without a window.
cp -r extensions/rapidminer/samples "$work/samples"
java "${options[@]}" -cp "$libraries" com.rapidminer.RapidMinerCommandLine -f "$work/samples/orchard.rmp" \
  > "$work/sample.log" 2>&1 || { cat "$work/sample.log"; exit 1; }
grep -q 'finished successfully' "$work/sample.log" || { cat "$work/sample.log"; exit 1; }
cmp "$work/samples/stope.csv" "$work/samples/built_in.csv"
echo "PASS the sample process ran, and both operators wrote the same file"

javac -nowarn -encoding UTF-8 -cp "$libraries" -d "$work/classes" \
  extensions/rapidminer/check/org/stope/rapidminer/check/*.java
java -Xmx4g "${options[@]}" -cp "$work/classes:$libraries" org.stope.rapidminer.check.Check "$goldens" \
  "${STOPE_CASES:-200}" "$@" 2> "$work/log" || { tail -50 "$work/log" >&2; exit 1; }
