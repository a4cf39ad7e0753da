#!/usr/bin/env bash
set -euo pipefail
touch "$1" # the person's history: empty before the first night
jq --rawfile history "$1" \
  '{ current_session: { recording: ., age: 34, sex: "F" }, history: $history, explain: true }' \
  docs/examples/callers/oura.json |
  curl --silent --show-error --fail-with-body --retry 3 --data-binary @- "$ACUITY_URL/predict" \
    --header "X-API-Key: $ACUITY_API_KEY" --header 'Content-Type: application/json' \
    --output "$1.answer" || { cat "$1.answer" >&2 && exit 1; } # a file: of several tries it keeps the last
jq --join-output .history "$1.answer" > "$1"
jq --raw-output '.recording.night, .explanation.scores.stress.text' "$1.answer"
rm "$1.answer"
