#!/usr/bin/env bash
# Lets a kernel fail on the GPU in every kind of job of the command line: scripts/gpu_lost.sh BUILD [KINDS]
# BUILD has cli/stope and libstope_cuda_watched.so (tests/device/watched_plugin.cpp), KINDS are "trap address". A command
# that asks for the GPU must end with exit code 5 and say that the GPU was lost, and leave no file; one that does not
# reach the failing kernel must write the bytes of the CPU. The last line has the counts.
set -uo pipefail
build=$(realpath "$1") kinds=${2:-trap address}
stope=$build/cli/stope
box=$(mktemp -d) && trap 'rm -rf "$box"' EXIT
cd "$box" || exit 1
export STOPE_CUDA_PLUGIN=$build/libstope_cuda_watched.so STOPE_STATS_GPU_ROWS=1
"$stope" gen blobs 12 2000 -o t.csv -q && "$stope" gen 200 300 -o a.gram -q || exit 1

failed=0 ended=0 whole=0
# run_with KIND:N COMMAND...: the command writes to "out".
run_with() {
  rm -rf out
  STOPE_CUDA_FAILING_KERNEL=$1 timeout 120 "$stope" "${@:2}" -o out --device cuda >stdout 2>stderr
  code=$?
}
wrong() {
  failed=$((failed + 1))
  echo "WRONG: $failing: $*: exit code $code"
  head -n 3 stderr
}
while read -r command; do
  read -ra words <<<"$command"
  "$stope" "${words[@]}" -o expected --device cpu >/dev/null 2>stderr || { failing=none code=$? && wrong "$command"; continue; }
  for kind in $kinds; do
    for n in 1 2 5 13; do
      failing=$kind:$n
      run_with "$failing" "${words[@]}"
      if [ $code = 5 ] && grep -q "the GPU was lost while" stderr && [ -z "$(find . -name 'out*' -o -name '.stope-*')" ]; then
        ended=$((ended + 1))
      elif [ $code = 0 ] && [ $n -gt 1 ] && cmp -s out expected; then
        whole=$((whole + 1))
        break
      else
        wrong "$command"
      fi
    done
  done
  rm -rf expected
done <<'END'
knn t.csv t.csv --ignore class
knn t.csv t.csv --ignore class --metric manhattan
classify t.csv t.csv --target class
stats t.csv
discretize t.csv --target class --method best-cut
tree t.csv --target class
ata a.gram
END
echo "$ended commands ended by a failing kernel, $whole that did not reach it, $failed wrong"
[ $failed = 0 ] && [ $ended -ge 14 ]
