#!/usr/bin/env bash
# A caller with curl: `client.sh PORT WAY FILE...`. See test/flow/foreignClients.test.ts.
set -euo pipefail
port=$1 way=$2
shift 2
common=(--silent --show-error --noproxy '*' --header "X-API-Key: $ACUITY_API_KEY" --header 'Content-Type: application/json'
  --write-out ' %{http_code}\n')
case $way in
  plain) common+=(--header 'Expect:') ;;
  continued) common+=(--header 'Expect: 100-continue' --expect100-timeout 20) ;;
  chunked) common+=(--header 'Expect:' --header 'Transfer-Encoding: chunked') ;;
  cut) common+=(--header 'Expect:' --limit-rate 50K --max-time 0.3) ;;
esac
all=()
for path in "$@" "$@"; do
  request=("${common[@]}" --data-binary "@$path" "http://127.0.0.1:$port/predict")
  if [ "$way" = cut ]; then
    # 28: the time was up, in the middle of the body.
    curl "${request[@]}" >/dev/null 2>&1 || [ $? = 28 ]
  else
    all+=("${request[@]}" --next)
  fi
done
# All on one connection: one call of curl. It prints each answer, then its status on the same line.
if [ "$way" != cut ]; then
  unset 'all[-1]'
  curl "${all[@]}" | sed -E 's/^(.*) ([0-9]{3})$/\2 \1/'
fi
