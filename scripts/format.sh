#!/usr/bin/env bash
# Formats every C++ and CUDA source of the project; --check only says which files are not formatted (exit 1).
set -euo pipefail
cd "$(dirname "$0")/.."
clang_format=${CLANG_FORMAT:-clang-format-19}
mapfile -d '' -t files < <(find include src cli tests fuzz bench examples bindings -type f \
  \( -name '*.hpp' -o -name '*.cpp' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' \) -print0)
case "${1:-}" in
  --check) exec "$clang_format" --dry-run -Werror "${files[@]}" ;;
  "") exec "$clang_format" -i "${files[@]}" ;;
  *) echo "format: unknown option '$1'" >&2; exit 2 ;;
esac
