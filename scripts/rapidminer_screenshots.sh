#!/usr/bin/env bash
# Draws RapidMiner's window with the extension into docs/images/: scripts/rapidminer_screenshots.sh. It needs
# RAPIDMINER_HOME, Xvfb (Debian: xvfb) and the jar of scripts/rapidminer.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${RAPIDMINER_HOME:?the folder of a RapidMiner 5.3}"
libraries="$RAPIDMINER_HOME/lib/*:$RAPIDMINER_HOME/lib/jdbc/*:$RAPIDMINER_HOME/lib/freehep/*"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/plugins" "$work/user/.RapidMiner5" "$work/classes" docs/images
cp build/rapidminer/plugin/stope-rapidminer-*.jar "$work/plugins"
cp -r extensions/rapidminer/samples "$work/samples"
printf 'rapidminer.init.plugins=true\nrapidminer.init.plugins.location=%s\n' "$work/plugins" > "$work/rapidminerrc"
javac -nowarn -encoding UTF-8 -cp "$libraries" -d "$work/classes" \
  extensions/rapidminer/check/org/stope/rapidminer/check/Screenshots.java
# RapidMiner builds its window outside Swing's own thread, which newer Java versions do not always forgive.
for _ in 1 2 3 4 5; do
  if timeout 150 xvfb-run -a -s "-screen 0 1280x800x24" java -Xmx2g -Duser.home="$work/user" \
    -Drapidminer.home="$RAPIDMINER_HOME" -Drapidminer.rcfile="$work/rapidminerrc" \
    --add-exports java.desktop/sun.awt.shell=ALL-UNNAMED --add-exports java.desktop/sun.awt=ALL-UNNAMED \
    -cp "$work/classes:$libraries" org.stope.rapidminer.check.Screenshots "$work/samples/orchard.rmp" docs/images \
    2> "$work/log"; then
    exit 0
  fi
done
tail -20 "$work/log" >&2
exit 1
