#!/usr/bin/env bash
# The gate of a build, told by variables of the environment; action.yml and ci/gitlab.yml have them.
# Ends as `benchwright gate` does, after it has written gate.md and gate.xml.
set -uo pipefail
# Not gate.json beside them: docs/gate-in-ci.md calls the policy so.
numbers=$(mktemp -d)/report.json
words=("${QRELS:?the file of qrels}" "${BASELINE:?the run of today}" "${CANDIDATE:?the run to be tried}")
words+=(--report gate.md --report "$numbers" --report gate.xml)
[ -z "${POLICY:-}" ] || words+=(--policy "$POLICY")
[ -z "${SLICES:-}" ] || words+=(--slices "$SLICES")
[ -z "${FAMILIES:-}" ] || words+=(--families "$FAMILIES")
[ -z "${FAIL_ON:-}" ] || words+=(--fail-on "$FAIL_ON")
rm -f gate.md gate.xml
benchwright gate "${words[@]}"
status=$?
if [ -f "$numbers" ]; then
  # In the words that action.yml lists: a pass is a pass, strict or not.
  read_verdict='import json, sys; print(json.load(open(sys.argv[1]))["verdict"].removesuffix("_strict").replace("_", "-"))'
  verdict=$(python3 -c "$read_verdict" "$numbers")
  [ -z "${GITHUB_OUTPUT:-}" ] || echo "verdict=$verdict" >>"$GITHUB_OUTPUT"
  [ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat gate.md >>"$GITHUB_STEP_SUMMARY"
fi
exit $status
