#!/usr/bin/env bash
# A caller with curl: `client.sh PORT`. See test/fixtures/foreign.ts.
set -euo pipefail
url="http://127.0.0.1:$1/predict"
common=(--silent --show-error --noproxy '*' --header "X-API-Key: $ACUITY_API_KEY" --header 'Content-Type: application/json')

# The options of one request: curl prints the answer, then its status on the same line.
options() { # way, path
  chosen=("${common[@]}" --max-time 20 --write-out ' %{http_code}\n' --data-binary "@$2")
  case $1 in
    plain) chosen+=(--header 'Expect:') ;;
    continued) chosen+=(--header 'Expect: 100-continue' --expect100-timeout 20) ;;
    chunked) chosen+=(--header 'Transfer-Encoding: chunked' --header 'Expect:') ;;
    cut) chosen+=(--header 'Expect:' --limit-rate 50K --max-time 0.3) ;;
  esac
  chosen+=("$url")
}

status_first() { sed -E 's/^(.*) ([0-9]{3})$/\2 \1/'; }

# All on one connection: one call of curl.
kept() { # way, paths
  local way=$1 all=()
  shift
  for path; do
    options "$way" "$path"
    all+=("${chosen[@]}" --next)
  done
  unset 'all[-1]'
  curl "${all[@]}" | status_first
}

fresh() { # way, paths
  local way=$1
  shift
  for path; do
    options "$way" "$path"
    if [ "$way" = cut ]; then
      # 28: the time was up, in the middle of the body.
      curl "${chosen[@]}" >/dev/null 2>&1 || [ $? = 28 ]
    else
      curl "${chosen[@]}" | status_first
    fi
  done
}

while read -r connection way times paths; do
  repeated=
  for ((time = 0; time < times; time++)); do repeated+=" $paths"; done
  # shellcheck disable=SC2086 # paths without spaces, apart from each other
  "$connection" "$way" $repeated
  echo end
done
