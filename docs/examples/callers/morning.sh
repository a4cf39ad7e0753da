#!/usr/bin/env bash
set -euo pipefail
touch "$1" # the person's history: empty before the first night
jq --rawfile history "$1" \
  '{ current_session: { recording: ., age: 34, sex: "F" }, history: $history, explain: true }' \
  docs/examples/callers/oura.json |
  curl --silent --show-error --fail-with-body --retry 3 --data-binary @- "$ACUITY_URL/predict" \
    --header "X-API-Key: $ACUITY_API_KEY" --header 'Content-Type: application/json' |
  jq --raw-output '.history, .recording.night, .explanation.scores.stress.text' > "$1.answer"
head -n 1 "$1.answer" | tr -d '\n' > "$1"
tail -n +2 "$1.answer"
rm "$1.answer"
