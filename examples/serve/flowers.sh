#!/usr/bin/env bash
# Uses a stope server with curl: keeps a table, fits a model, predicts, and asks for statistics.
# STOPE_SERVER is its address, such as https://gpu-box:7400 or http://127.0.0.1:7400; STOPE_TOKEN is a token.
# STOPE_CA, if set, is a file with the certificate that is to be trusted, for a server whose certificate is its own.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ask METHOD PATH [CURL ARGUMENT...]: prints the answer; a refusal ends the script with the server's words.
# The token goes through a file of curl's, since every user of the machine can see arguments.
ask() {
  if ! curl --silent --show-error --fail-with-body ${STOPE_CA:+--cacert "$STOPE_CA"} \
    --config <(printf 'header = "Authorization: Bearer %s"\n' "${STOPE_TOKEN:-}") --dump-header "$work/head" \
    --request "$1" "${STOPE_SERVER:-http://127.0.0.1:7400}$2" "${@:3}" >"$work/answer"; then
    cat "$work/answer" >&2
    echo >&2
    return 1
  fi
  cat "$work/answer"
}

# The name under which the server keeps what it got. Names with a tilde are the server's, and nobody guesses them.
made() {
  ask "$@" >/dev/null || return # else the script goes on: set -e stops at functions in $(...)
  sed -n 's|^[Ll]ocation:.*/\([^/]*\)\r$|\1|p' "$work/head"
}

table=$(made POST '/v1/tables?target=species' -H 'Content-Type: text/csv' --data-binary @- <<'ROWS'
sepal,petal,species
5.1,1.4,setosa
4.9,1.5,setosa
6.4,4.5,versicolor
6.3,6.0,virginica
ROWS
)
model=$(made POST "/v1/models/fit?kind=classify&n_neighbors=1&table=$table")

ask POST "/v1/models/$model/predict" -H 'Content-Type: text/csv' -H 'Accept: text/csv' --data-binary @- <<'ROWS'
sepal,petal
6.0,4.4
5.0,1.4
ROWS
ask POST "/v1/compute/stats?table=$table" -H 'Accept: text/csv' | cut -d, -f1,2 >&2

ask DELETE "/v1/models/$model"
ask DELETE "/v1/tables/$table"
