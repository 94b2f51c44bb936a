#!/usr/bin/env bash
# Compares the extension with the operators of a real RapidMiner: scripts/rapidminer_check.sh [PART...].
# RAPIDMINER_HOME is the folder of a RapidMiner 5.3 (docs/RAPIDMINER.md says how to build one); without it nothing is
# checked. Golden data sets are those under STOPE_SHARED (default: ../shared). STOPE_CASES is the number of random tables
# (default: 200). Parts: see extensions/rapidminer/check/.
# STOPE_CHECK_SERVER=1: the extension gets no native library, and its operators compute on a stope-serve that is started
# here with TLS and a token. STOPE_SERVE_PYTHON is the Python that has the server's packages (default: .venv/bin/python).
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
server=
# shellcheck disable=SC2329  # the trap calls it
clean_up() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT
cp -r "$built" "$work/signatures"
rm -rf "$built"
mvn -q --batch-mode -Dstyle.color=never -f extensions/rapidminer/pom.xml package -DskipTests
diff -r "$work/signatures" "$built"
echo "PASS same classes from RapidMiner's jar and from the signatures"

mkdir -p "$work/plugins" "$work/user/.RapidMiner5" "$work/classes"
cp build/rapidminer/plugin/stope-rapidminer-*.jar "$work/plugins"
if [ -n "${STOPE_CHECK_SERVER:-}" ]; then
  zip -q -d "$work"/plugins/*.jar 'org/stope/native/*'
  STOPE_PYTHON=ON scripts/build.sh release stope_python
  PYTHONPATH=$PWD/build/release/python
  export PYTHONPATH
  serve=("${STOPE_SERVE_PYTHON:-.venv/bin/python}" -m stope.serve)
  # A certificate of its own, as a colleague's machine has it: the fingerprint stands beside the token.
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=gpu-box \
    -keyout "$work/key.pem" -out "$work/certificate.pem" 2>/dev/null
  token=$("${serve[@]}" token add check --right compute --state "$work/state" 2>/dev/null)
  "${serve[@]}" run --state "$work/state" --port 0 --certificate "$work/certificate.pem" --key "$work/key.pem" \
    2> "$work/serve.log" &
  server=$!
  for _ in $(seq 300); do
    address=$(sed -n 's|.*"address": *"https://\([^"/]*\)/*".*|\1|p' "$work/serve.log")
    [ -z "$address" ] || break
    kill -0 "$server" 2>/dev/null || { cat "$work/serve.log"; exit 1; }
    sleep 0.2
  done
  fingerprint=$(openssl x509 -in "$work/certificate.pem" -noout -fingerprint -sha256 | sed 's/.*=//')
  mkdir -p "$work/user/.stope"
  (umask 077; echo "$address $token sha256:$fingerprint" > "$work/user/.stope/tokens")
  options_of_server=(-Dstope.check.server="$address" -Djava.library.path=)
fi
printf 'rapidminer.init.plugins=true\nrapidminer.init.plugins.location=%s\n' "$work/plugins" > "$work/rapidminerrc"
options=(-Duser.home="$work/user" -Djava.awt.headless=true -Drapidminer.home="$RAPIDMINER_HOME"
  -Drapidminer.rcfile="$work/rapidminerrc" ${options_of_server[@]+"${options_of_server[@]}"})

if [ -z "${STOPE_CHECK_SERVER:-}" ]; then
  # The sample, as a user starts it without a window.
  cp -r extensions/rapidminer/samples "$work/samples"
  java "${options[@]}" -cp "$libraries" com.rapidminer.RapidMinerCommandLine -f "$work/samples/orchard.rmp" \
    > "$work/sample.log" 2>&1 || { cat "$work/sample.log"; exit 1; }
  grep -q 'finished successfully' "$work/sample.log" || { cat "$work/sample.log"; exit 1; }
  cmp "$work/samples/stope.csv" "$work/samples/built_in.csv"
  echo "PASS the sample process ran, and both operators wrote the same file"
fi

javac -nowarn -encoding UTF-8 -cp "$libraries" -d "$work/classes" \
  extensions/rapidminer/check/org/stope/rapidminer/check/*.java
java -Xmx4g "${options[@]}" -cp "$work/classes:$libraries" org.stope.rapidminer.check.Check "$goldens" \
  "${STOPE_CASES:-200}" "$@" 2> "$work/log" || { tail -50 "$work/log" >&2; exit 1; }
