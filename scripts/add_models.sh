#!/usr/bin/env bash
# Adds this version's models to the collection that every later version must load: scripts/add_models.sh [PROGRAM].
# tests/model/collection/VERSION gets two tables, a small model of every kind, and what the version answers for the rows.
# Run it once, at a release; tests/cli/test_collection.py applies every model of every version.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "${1:-build/release/cli/stope}")
version=$("$program" --version | sed -nE '1s/^stope ([0-9.]+).*/\1/p')
folder=tests/model/collection/$version
[ ! -e "$folder" ] || { echo "add_models: $folder is there; a version's models are made once" >&2; exit 1; }
mkdir -p "$folder"
cd "$folder"
"$program" gen mixed 5 24 --classes 3 --missing-share 0.06 --seed 3 -o rows.csv
"$program" gen linear 4 24 --seed 3 -o numbers.csv
model() { "$program" "${@:2}" --model-out "$1.stope" -q >/dev/null; }
model knn-classes classify rows.csv --target class -k 3 --weights distance --metric gower
model knn-numbers regress numbers.csv --target y -k 3 --normalize z
model knn-index knn rows.csv --ignore class --metric heom
model pca pca rows.csv --target class --numeric-only --impute mean --n-components 2
model pca-uncentred pca numbers.csv --target y --n-components 2 --no-center
model least-squares lsq numbers.csv --target y --alpha 0.5
model tree tree rows.csv --target class --missing-policy value
model cuts discretize rows.csv --target class --missing-policy value --method md-global
model normalization normalize rows.csv --target class --method range
model imputation impute rows.csv --target class --metric gower -k 2
"$program" chain normalization.stope tree.stope -o chain.stope
for file in *.stope; do
  table=rows.csv more=()
  case $file in
    knn-numbers.* | pca-uncentred.* | least-squares.*) table=numbers.csv ;;
    knn-classes.* | tree.* | chain.*) more=(--proba) ;;
  esac
  "$program" predict "$file" "$table" "${more[@]}" -q -o "${file%.stope}.$table"
done
du -bc ./*.stope
