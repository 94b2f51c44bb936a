# To be sourced by scripts/test.sh and scripts/verify.sh: runs suites, counts their cases and says what failed. A suite
# NAME is a function suite_NAME that writes to its log, build/test-logs/NAME.log. Its exit code decides; the counts are
# read from the log.
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
top=$PWD
logs=build/test-logs
mkdir -p "$logs"
export STOPE_SHARED=${STOPE_SHARED:-$top/../shared}
export STOPE_JOBS=${STOPE_JOBS:-$(nproc)}
export CTEST_PARALLEL_LEVEL=$STOPE_JOBS
export GTEST_COLOR=no
export CCACHE_BASEDIR=$top # an object is the same in every folder that lies as deep: build/gcc, build/sdist/build/...
export CCACHE_DEPEND=1 # on a fresh machine every file misses: then ccache need not preprocess it first
python=.venv/bin/python
program=$top/build/release/cli/stope # built as users get it

sum() { awk '{n += $1} END {print n + 0}'; }

# maven LOG: "passed failed skipped" from the summaries of Maven's test runs, one a module.
maven() {
  sed -nE 's/^\[[A-Z]+\] Tests run: ([0-9]+), Failures: ([0-9]+), Errors: ([0-9]+), Skipped: ([0-9]+)$/\1 \2 \3 \4/p' "$1" |
    awk '{p += $1 - $2 - $3 - $4; f += $2 + $3; s += $4} END {print p + 0, f + 0, s + 0}'
}

# count LOG: "passed failed skipped" from what GoogleTest, pytest, Maven and our own PASS / FAIL / SKIP lines say.
count() {
  local passed failed skipped maven_passed maven_failed maven_skipped
  read -r maven_passed maven_failed maven_skipped < <(maven "$1")
  passed=$( (sed -nE 's/.*\[  PASSED  \] ([0-9]+) tests?\..*/\1/p; s/^(.*[ =])?([0-9]+) passed.* in [0-9.]+s.*/\2/p' "$1"
    grep -aE '^PASS ' "$1" | sed 's/.*/1/') | sum)
  failed=$( (sed -nE 's/.*\[  FAILED  \] ([0-9]+) tests?, listed below.*/\1/p; s/^(.*[ =])?([0-9]+) failed.* in [0-9.]+s.*/\2/p
    s/^(.*[ =])?([0-9]+) errors? in [0-9.]+s.*/\2/p' "$1"
    grep -aE '^FAIL ' "$1" | sed 's/.*/1/') | sum)
  skipped=$( (sed -nE 's/.*\[  SKIPPED \] ([0-9]+) tests?, listed below.*/\1/p; s/^(.*[ =])?([0-9]+) skipped.* in [0-9.]+s.*/\2/p' "$1"
    grep -aE '^SKIP ' "$1" | sed 's/.*/1/') | sum)
  echo "$((passed + maven_passed)) $((failed + maven_failed)) $((skipped + maven_skipped))"
}

# what_failed LOG: prints each failure once, without ctest's numbers and GoogleTest's times, or the end of a log that
# names none.
what_failed() {
  local lines
  lines=$(grep -aE '^FAIL |\[  FAILED  \] [^ ]+\.|^FAILED |^ERROR |^\[ERROR\]   |error: |ERROR: |WARNING: Thr|SUMMARY: |: Failure$|\*\*\*' "$1" |
    sed -E 's/^[0-9]+: //; s/ \([0-9]+ ms\)$//' | awk '!seen[$0]++')
  [ -n "$lines" ] || lines=$(tail -n 20 "$1")
  head -n 30 <<<"$lines"
}

# skip_reasons LOG: the reasons that GoogleTest, pytest, scripts/maven_skips.py and our own SKIP lines give for tests that
# did not run.
skip_reasons() {
  {
    sed -E 's/^[0-9]+: //' "$1" | grep -aE -A 1 '\.(cpp|hpp):[0-9]+: Skipped$' | grep -avE ': Skipped$|^--$'
    sed -nE 's/^SKIPPED \[[0-9]+\] [^ ]+: //p; s/^SKIP //p' "$1"
  } | sort -u
}

# forbidden_skips LOG: those reasons that scripts/allowed_skips.txt does not list.
forbidden_skips() {
  skip_reasons "$1" | grep -avE -f <(grep -vE '^#|^$' scripts/allowed_skips.txt)
}

# cpu_seconds NAME: sets the variable to the seconds of processors that this shell's children have taken.
cpu_seconds() {
  local file=$logs/times.$BASHPID
  times >"$file" # the second line: "1m2.345s 0m6.789s"
  printf -v "$1" %s "$(sed -n 2p "$file" | tr 'ms,' '  .' | awk '{printf "%d", $1 * 60 + $2 + $3 * 60 + $4}')"
  rm -f "$file"
}

# build PRESET [TARGET...]: scripts/build.sh, and a line for the suite's log that says how long it took.
build() {
  local began=$SECONDS code=0
  scripts/build.sh "$@" || code=$?
  echo "built $1 in $((SECONDS - began)) s"
  return $code
}

# prepare TITLE COMMAND...: runs what must be there before the first suite, and says how long it took.
prepare() {
  local title=$1 began=$SECONDS before after line
  shift
  cpu_seconds before
  "$@" || return 1
  cpu_seconds after
  line=$(printf '%-34s %s' "$title:" "($((SECONDS - began)) s, CPU $((after - before)) s)")
  lines+=("$line")
  echo "$line"
}

total_passed=0 total_failed=0 total_skipped=0
lines=()
# run NAME TITLE: runs a suite, prints its line and what failed, and leaves its counts and its line in NAME.result.
run() {
  local name=$1 title=$2 began=$SECONDS before after code passed failed skipped line took
  cpu_seconds before
  "suite_$name" >"$logs/$name.log" 2>&1
  code=$?
  cpu_seconds after
  took="$((SECONDS - began)) s, CPU $((after - before)) s"
  took+=$(sed -nE 's/^built [a-z]+ in ([1-9][0-9]+ s)$/, built in \1/p' "$logs/$name.log" | head -n 1)
  read -r passed failed skipped < <(count "$logs/$name.log")
  # If a build breaks or a program dies, no test is reported as failed: the suite itself then counts as one.
  [ $code -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
  [ $code -ne 0 ] || [ $((passed + failed + skipped)) -gt 0 ] || { failed=1; echo "FAIL no test ran" >>"$logs/$name.log"; }
  # Continuous integration has what the tests need: a test that it skips is one that nobody runs.
  if [ -n "${STOPE_CI:-}" ] && [ "$skipped" -gt 0 ]; then
    local forbidden
    forbidden=$(forbidden_skips "$logs/$name.log")
    [ -z "$forbidden" ] || { failed=$((failed + $(wc -l <<<"$forbidden"))); sed 's/^/FAIL skipped: /' <<<"$forbidden" >>"$logs/$name.log"; }
  fi
  line=$(printf '%-34s %5d passed, %d failed, %d skipped  (%s)' "$title:" "$passed" "$failed" "$skipped" "$took")
  printf '%s\n' "$passed $failed $skipped" "$line" >"$logs/$name.result"
  echo "$line"
  [ "$failed" -eq 0 ] || what_failed "$logs/$name.log" | sed "s/^/    /"
}

# collect NAME: adds the result of a suite to the totals. One that left no result has failed.
collect() {
  local counts line
  { read -r counts && read -r line; } 2>/dev/null <"$logs/$1.result" || { counts="0 1 0" line="$1: it did not end"; }
  read -r passed failed skipped <<<"$counts"
  total_passed=$((total_passed + passed)) total_failed=$((total_failed + failed)) total_skipped=$((total_skipped + skipped))
  lines+=("$line")
}

# in_turn NAME:TITLE...: one after another, those that are wanted.
in_turn() {
  local entry
  for entry in "$@"; do
    [ "$wanted" != " " ] && [[ $wanted != *" ${entry%%:*} "* ]] && continue
    run "${entry%%:*}" "${entry#*:}"
  done
}

# side_by_side NAME:TITLE... / NAME:TITLE...: two rows of suites that keep one core busy each, or wait: both rows run at
# once. Each in a process group of its own, since a shell lets its other background jobs ignore the keyboard's signals,
# which some tests send.
side_by_side() {
  local first=() one other
  while [ "$1" != / ]; do first+=("$1"); shift; done
  shift
  if [ "$STOPE_JOBS" -lt 2 ]; then
    in_turn "${first[@]}" "$@"
    return
  fi
  set -m
  (set +m; in_turn "${first[@]}") &
  one=$!
  (set +m; in_turn "$@") &
  other=$!
  set +m
  trap 'kill -- -$one -$other 2>/dev/null; exit 130' INT TERM
  wait $one $other
  trap - INT TERM
}

# run_suites WANTED... -- NAME:TITLE... [{ NAME:TITLE... / NAME:TITLE... }]...: runs the suites that are wanted, or all if
# none is named; those in braces side by side. Exits 1 if one failed.
run_suites() {
  local entry row=() beside=no names=()
  wanted=" "
  while [ "$1" != -- ]; do wanted+="$1 "; shift; done
  shift
  for entry in "$@"; do
    [[ $entry == *:* ]] && names+=("${entry%%:*}")
  done
  for entry in $wanted; do
    [[ " ${names[*]} " == *" $entry "* ]] || { echo "no suite '$entry' here: ${names[*]}" >&2; return 2; }
  done
  for entry in "${names[@]}"; do rm -f "$logs/$entry.result"; done
  for entry in "$@"; do
    case $entry in
      "{") row=() beside=yes ;;
      "}") side_by_side "${row[@]}"; beside=no ;;
      *) if [ $beside = yes ]; then row+=("$entry"); else in_turn "$entry"; fi ;;
    esac
  done
  for entry in "${names[@]}"; do
    [ "$wanted" != " " ] && [[ $wanted != *" $entry "* ]] && continue
    collect "$entry"
  done
  echo
  printf '%s\n' "${lines[@]}"
  if scripts/has_nvidia_driver.sh; then
    echo "CUDA: tests run as far as they are above; scripts/gpu_check.sh runs all, with compute-sanitizer"
  else
    echo "CUDA: tests skipped (no NVIDIA driver); scripts/gpu_check.sh runs them on a machine with a GPU"
  fi
  echo "$total_passed passed, $total_failed failed, $total_skipped skipped in $((SECONDS / 60)) min $((SECONDS % 60)) s"
  [ "$total_failed" -eq 0 ]
}
