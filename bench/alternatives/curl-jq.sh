# The same job as a bash step with curl and jq: one create request, then polling.
set -euo pipefail
jobs="$BASE_URL/v2/agent/$PROJECT_ID/job"
job=$(jq -n --arg prompt "$PROMPT" '{prompt: $prompt}' |
  curl -fsS -X POST "$jobs" -H "Authorization: Bearer $API_KEY" -H 'Content-Type: application/json' -d @-)
id=$(jq -r .id <<<"$job")
status=active
while [ "$status" = active ]; do
  sleep "$INTERVAL"
  job=$(curl -fsS "$jobs/$id" -H "Authorization: Bearer $API_KEY")
  status=$(jq -r .status <<<"$job")
done
{
  echo "job-id=$id"
  echo "status=$status"
  echo "pr-link=$(jq -r '.prLink // empty' <<<"$job")"
} >>"$GITHUB_OUTPUT"
[ "$status" = completed ]
