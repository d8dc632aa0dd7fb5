#!/usr/bin/env bash
# The gate of a build, told by variables of the environment; action.yml and ci/gitlab.yml have them.
# Ends as `benchwright gate` does, after it has written gate.md, gate.json and gate.xml.
set -uo pipefail
words=("${QRELS:?the file of qrels}" "${BASELINE:?the run of today}" "${CANDIDATE:?the run to be tried}")
words+=(--report gate.md --report gate.json --report gate.xml)
[ -z "${POLICY:-}" ] || words+=(--policy "$POLICY")
[ -z "${SLICES:-}" ] || words+=(--slices "$SLICES")
[ -z "${FAMILIES:-}" ] || words+=(--families "$FAMILIES")
[ -z "${FAIL_ON:-}" ] || words+=(--fail-on "$FAIL_ON")
rm -f gate.md gate.json gate.xml
benchwright gate "${words[@]}"
status=$?
if [ -f gate.json ]; then
  verdict=$(python3 -c 'import json; print(json.load(open("gate.json"))["verdict"])')
  [ -z "${GITHUB_OUTPUT:-}" ] || echo "verdict=$verdict" >>"$GITHUB_OUTPUT"
  [ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat gate.md >>"$GITHUB_STEP_SUMMARY"
fi
exit $status
