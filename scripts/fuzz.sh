#!/usr/bin/env bash
# Builds the fuzz targets and runs each over its corpus: scripts/fuzz.sh [SECONDS] [TARGET...]; the default is 60
# seconds. Seeds are fuzz/corpus and what scripts/fuzz_seeds.py makes of the tests' files; fuzz/dictionaries has the
# words of the formats. New inputs stay in build/. A finding is written to build/fuzz-findings; its fix adds it to
# fuzz/corpus.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
[ $# -gt 0 ] && shift
scripts/bootstrap.sh --test
scripts/build.sh asan fuzz/all # and what they link, not the rest
python3 scripts/fuzz_seeds.py
if [ $# -eq 0 ]; then
  mapfile -t targets < <(find build/asan/fuzz -maxdepth 1 -type f -executable -name '*_fuzz' -printf '%f\n' | sort)
else
  targets=("$@")
fi
[ ${#targets[@]} -gt 0 ] || { echo "fuzz: build/asan/fuzz holds no target" >&2; exit 1; }
mkdir -p build/fuzz-findings
export ASAN_SYMBOLIZER_PATH=${ASAN_SYMBOLIZER_PATH:-/usr/lib/llvm-19/bin/llvm-symbolizer}
one() {
  local name=$1 log=build/fuzz-$1.log dictionary=fuzz/dictionaries/${1%_fuzz}.dict options=() folders=() folder
  [ -f "$dictionary" ] && options+=("-dict=$dictionary")
  mkdir -p "build/fuzz-corpus/$name"
  for folder in "build/fuzz-corpus/$name" "fuzz/corpus/${name%_fuzz}" "build/fuzz-seeds/$name"; do
    [ -d "$folder" ] && folders+=("$folder")
  done
  if "build/asan/fuzz/$name" -max_total_time="$seconds" -artifact_prefix=build/fuzz-findings/ -rss_limit_mb=2048 \
    -timeout=20 -max_len=6000 -print_final_stats=1 "${options[@]}" "${folders[@]}" >"$log" 2>&1; then
    echo "PASS $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") runs," \
      "$(sed -nE 's/.*cov: ([0-9]+) ft: ([0-9]+) .*/\1 edges, \2 features/p' "$log" | tail -n 1)"
  else
    tail -n 40 "$log" >&2
    echo "FAIL $name: $log"
    return 1
  fi
}
export -f one
export seconds
printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I{} bash -c 'one {}'
