curl --silent --show-error --fail-with-body --max-time 10 "$ACUITY_URL/predict" \
  --header "X-API-Key: $ACUITY_API_KEY" \
  --header 'Content-Type: application/json' \
  --data @docs/examples/request.json
