"""Who gets what from the API: every endpoint and role, by session and by token."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.contrib.auth.hashers import MD5PasswordHasher
from django.db import transaction
from django.test import Client, override_settings
from django.urls import resolve
from django.utils import timezone

from annotation.models import KnownGrade, Pool, Question
from benchmarks_app.models import (
    ApiToken,
    Benchmark,
    CandidateList,
    Job,
    QrelSet,
    Role,
    Run,
    Scope,
    Slice,
    User,
)
from benchmarks_app.people.services import people, teams
from benchmarks_app.people.services.api_tokens import create_api_token, revoke_api_token
from benchmarks_app.queries.services import draw_families
from benchmarks_app.releases.services.drafting import create_draft
from scoring.contextual.services.people import ask_people
from scoring.models import GatePolicy, LiveSystem, ProbingFlag
from scoring.scores.services.scoring import Target, score_run
from tests import factories
from tests.annotation import making_machines
from tests.annotation.making import judge, pool
from tests.scoring import making_contextual
from tests.scoring.making_gates import gate_of, policy_of, rehearsal_of
from tests.world import addresses

pytestmark = pytest.mark.django_db

PEOPLE = ("nobody", "vi", "ada", "sam", "bo", "mia", "olga", "cy")
# What is sent and what each gets; one number is everybody's. Bo adjudicates d1, where Ada and Mia
# differ. Cy belongs to another benchmark.
TABLE = """
# endpoint            how    body     nobody vi  ada sam bo  mia olga cy
top-up-list           GET    -        401    200 403 200 200 200 200 404
top-up-list           POST   top-up   401    403 403 403 403 201 201 404
planner               GET    -        401    200 403 200 200 200 200 404
ann                   GET    -        401    200 403 200 200 200 200 404
freshness-detail      GET    -        401    200 403 200 200 200 200 404
reusability-detail    GET    -        401    200 403 200 200 200 200 404
agreement-detail      GET    -        401    403 403 403 200 200 200 404
candidates-list       GET    -        401    403 403 403 403 200 200 404
candidates-list       POST   list     401    403 403 403 403 201 201 404
benchmark-list        GET    -        200
# The name is taken once somebody made it.
benchmark-list        POST   new      401    201 400 400 400 400 400 400
benchmark-detail      GET    -        401    200 200 200 200 200 200 404
export-list           GET    -        401    200 403 200 200 200 200 404
export-detail         GET    -        401    200 403 200 200 200 200 404
export-detail         POST   -        401    403 403 403 403 202 202 404
run-scores            GET    -        401    200 403 200 200 200 200 404
run-queries           GET    -        401    200 403 200 200 200 200 404
run-holes             GET    -        401    200 403 200 200 200 200 404
probing-list          GET    -        401    403 403 403 403 200 200 404
probing-settle        POST   -        401    403 403 403 403 200 200 404
run-export            GET    -        401    200 403 200 200 200 200 404
release-list          GET    -        401    200 403 200 200 200 200 404
release-list          POST   draft    401    403 403 403 403 201 201 404
release-detail        GET    -        401    200 403 200 200 200 200 404
release-file          GET    -        401    200 403 200 200 200 200 404
release-deprecate     POST   reason   401    403 403 403 403 200 409 404
release-draft         GET    -        401    403 403 403 403 200 200 404
release-draft         PATCH  draft    401    403 403 403 403 200 200 404
release-draft         DELETE -        401    403 403 403 403 204 404 404
release-draft-check   POST   -        401    403 403 403 403 202 202 404
release-draft-publish POST   -        401    403 403 403 403 409 409 404
gate-list             GET    -        401    200 403 200 200 200 200 404
gate-list             POST   gate     401    403 403 200 403 200 200 404
gate-detail           GET    -        401    200 403 200 200 200 200 404
gate-report           GET    -        401    200 403 200 200 200 200 404
gate-online           GET    -        401    200 403 200 200 200 200 404
gate-online           POST   online   401    403 403 201 403 201 201 404
gate-online-log       POST   -        401    403 403 400 403 400 400 404
gate-came-true        GET    -        401    200 403 200 200 200 200 404
gate-policy-list      GET    -        401    200 403 200 200 200 200 404
gate-policy-list      POST   policy   401    403 403 201 403 409 409 404
gate-policy-detail    GET    -        401    200 403 200 200 200 200 404
gate-policy-retire    POST   -        401    403 403 403 403 200 200 404
gate-rehearsal-list   POST   rehearsal 401   403 403 202 403 202 202 404
gate-rehearsal-detail GET    -        401    403 403 404 403 200 200 404
comparison-list       GET    -        401    422 403 422 422 422 422 404
comparison-list       POST   pair     401    422 403 422 422 422 422 404
comparison-queries    GET    -        401    422 403 422 422 422 422 404
comparison-results    GET    -        401    422 403 422 422 422 422 404
comparison-robustness GET    -        401    422 403 422 422 422 422 404
comparison-robustness POST   pair     401    422 403 422 422 422 422 404
comparison-detail     GET    -        401    404 403 404 404 404 404 404
corpus-detail         GET    -        401    200 200 200 200 200 200 404
corpus-detail         PATCH  corpus   401    403 403 403 403 200 200 404
document-grades-list  POST   grades   401    403 403 403 403 404 404 404
fetch-list            POST   fetch    401    403 403 403 403 202 202 404
snapshot-detail       GET    -        401    403 403 403 403 200 200 404
snapshot-detail       POST   take     401    403 403 403 403 200 409 404
click-qrels           POST   -        401    403 403 403 403 400 400 404
log-list              GET    -        401    403 403 403 403 200 200 404
log-list              POST   -        401    403 403 403 403 400 400 404
log-detail            GET    -        401    403 403 403 403 200 200 404
log-samples           GET    -        401    403 403 403 403 200 200 404
log-samples           POST   sample   401    403 403 403 403 202 202 404
log-sample-preview    POST   sample   401    403 403 403 403 200 200 404
family-list           GET    -        401    200 200 200 200 200 200 404
family-links          GET    -        401    200 200 200 200 200 200 404
family-detail         GET    -        401    200 200 200 200 200 200 404
family-group          POST   -        401    403 403 403 403 202 202 404
family-merge          POST   other    401    403 403 403 403 404 404 404
family-split          POST   queries  401    403 403 403 403 422 422 404
family-verdict        POST   said     401    403 403 403 403 422 422 404
family-confirm        POST   -        401    403 403 403 403 200 200 404
family-confirm-several POST  -       401    403 403 403 403 400 400 404
family-undo           POST   -        401    403 403 403 403 409 409 404
job-cancel            POST   -        401    404 404 404 404 200 409 404
job-retry             POST   -        401    404 404 404 404 202 409 404
rescoring-detail      GET    -        401    200 403 200 200 200 200 404
rescoring-detail      POST   -        401    403 403 403 403 202 202 404
moves-detail          GET    -        401    200 403 200 200 200 200 404
job-detail            GET    -        401    404 404 404 404 200 200 404
member-list           GET    -        401    403 403 403 403 403 200 404
member-detail         GET    -        401    403 403 403 403 403 200 404
member-detail         PATCH  lifted   401    403 403 403 403 403 200 404
me-export             GET    -        401    200 200 200 200 200 200 200
me-address-link       POST   -        401    202 202 202 202 202 202 202
me-delete             POST   -        401    400 400 400 400 400 400 400
event-list            GET    -        401    403 403 403 403 200 200 404
event-export          GET    -        401    403 403 403 403 200 200 404
site-events           GET    -        401    403 403 403 403 403 403 403
site-event-export     GET    -        401    403 403 403 403 403 403 403
account-export        GET    -        401    403 403 403 403 403 403 403
account-delete        POST   -        401    403 403 403 403 403 403 403
me-detail             GET    -        401    200 200 200 200 200 200 200
leaderboard-detail    GET    -        401    200 403 200 200 200 200 404
comparison-corrected  GET    -        401    422 403 422 422 422 422 404
leaderboard-corrected GET    -        401    200 403 200 200 200 200 404
query-draw-list       GET    -        401    403 403 403 403 200 200 404
query-draw-list       POST   -        401    403 403 403 403 400 400 404
leaderboard-slices    GET    -        401    200 403 200 200 200 200 404
leaderboard-history   GET    -        401    200 403 200 200 200 200 404
baseline-list         GET    -        401    200 403 200 200 200 200 404
baseline-list         POST   -        401    403 403 403 403 409 409 404
live-list             GET    -        401    200 403 200 200 200 200 404
live-list             POST   system   401    403 403 403 403 201 201 404
live-detail           GET    -        401    200 403 200 200 200 200 404
live-detail           PATCH  renamed  401    403 403 403 403 200 200 404
live-detail           DELETE -        401    403 403 403 403 204 404 404
live-try              POST   -        401    403 403 403 403 400 400 404
live-ask              POST   -        401    403 403 403 403 202 409 404
run-latencies         GET    -        401    200 403 200 200 200 200 404
reported-list         GET    -        401    200 403 200 200 200 200 404
reported-list         POST   value    401    403 403 201 403 201 201 404
reported-detail       GET    -        401    200 403 200 200 200 200 404
reported-detail       PATCH  value    401    403 403 403 403 200 200 404
reported-detail       DELETE -        401    403 403 403 403 204 404 404
judgments-export      GET    -        401    403 403 403 403 200 200 404
judgments-import      POST   labels   401    403 403 403 403 200 200 404
contrastive-list      GET    -        401    200 403 200 200 200 200 404
contrastive-list      POST   -        401    403 403 400 403 400 400 404
contrastive-detail    GET    -        401    200 403 200 200 200 200 404
contrastive-detail    DELETE -        401    403 403 204 403 404 404 404
contrastive-ranks     GET    -        401    200 403 200 200 200 200 404
pair-detail           GET    pair     401    403 403 403 200 200 200 404
phase-list            GET    -        401    403 403 200 403 200 200 404
phase-list            POST   -        401    403 403 403 403 400 400 404
phase-detail          GET    -        401    403 403 200 403 200 200 404
phase-detail          PATCH  closing  401    403 403 403 403 200 200 404
phase-close           POST   -        401    403 403 403 403 200 200 404
submission-embeddings POST   -        401    403 403 400 403 400 400 404
submission-list       GET    -        401    403 403 200 403 200 200 404
submission-list       POST   -        401    403 403 400 403 400 400 404
submission-detail     GET    -        401    403 403 200 403 200 200 404
run-withdraw          POST   -        401    403 403 403 403 200 409 404
submission-withdraw   POST   -        401    403 403 200 403 409 409 404
submission-leave-out  POST   lines    401    403 403 409 403 409 409 404
submission-send-on    POST   -        401    403 403 409 403 409 409 404
pool-list             GET    -        401    403 403 403 200 200 200 404
pool-list             POST   pool     401    403 403 403 403 202 202 404
pool-detail           GET    -        401    403 403 403 200 200 200 404
pool-detail           PATCH  state    401    403 403 403 403 200 200 404
pool-estimates        GET    -        401    403 403 403 403 409 409 404
pool-queue            GET    -        401    403 403 403 403 200 200 404
pool-queue            POST   -        401    403 403 403 403 422 422 404
pool-sparing          GET    -        401    403 403 403 403 200 200 404
pool-sparing          POST   -        401    403 403 403 403 400 400 404
pool-sparing          DELETE -        401    403 403 403 403 409 409 404
pool-people           GET    -        401    403 403 403 200 200 200 404
pool-report           GET    -        401    403 403 403 200 200 200 404
qrels-list            GET    -        401    403 403 403 403 200 200 404
qrels-list            POST   qrels    401    403 403 403 403 202 202 404
qrels-detail          GET    -        401    403 403 403 403 200 200 404
qrels-detail          DELETE -        401    403 403 403 403 409 409 404
qrels-map             POST   mapped   401    403 403 403 403 201 201 404
qrels-download        GET    -        401    403 403 403 403 200 200 404
contamination-list    GET    -        401    200 200 200 200 200 200 404
contamination-list    POST   -        401    403 403 403 403 400 400 404
contamination-salt    GET    -        401    403 403 403 403 200 200 404
contamination-detail  GET    -        401    200 200 200 200 200 200 404
contamination-matches GET    -        401    200 200 200 200 200 200 404
leak-report           GET    -        401    200 403 200 200 200 200 404
leak-report-markdown  GET    -        401    200 403 200 200 200 200 404
split-detail          GET    -        401    200 200 200 200 200 200 404
split-detail          POST   given    401    403 403 403 403 422 422 404
split-preview         POST   given    401    403 403 403 403 422 422 404
split-hide            POST   hidden   401    403 403 403 403 200 200 404
slice-list            GET    -        401    200 200 200 200 200 200 404
slice-list            POST   slice    401    403 403 403 403 201 201 404
slice-detail          GET    -        401    200 200 200 200 200 200 404
slice-detail          PATCH  renamed  401    403 403 403 403 200 200 404
slice-detail          DELETE -        401    403 403 403 403 204 404 404
slice-members         GET    -        401    200 200 200 200 200 200 404
slice-members         POST   queries  401    403 403 403 403 200 200 404
slice-decide          POST   verdict  401    403 403 403 403 200 200 404
slice-preview         POST   rule     401    403 403 403 403 200 200 404
slice-refresh         POST   -        401    403 403 403 403 200 200 404
slice-register        POST   -        401    403 403 403 403 422 422 404
slice-import          POST   -        401    403 403 403 403 400 400 404
contextual-verdicts          GET    -       401    403 200 403 200 200 200 404
contextual-verdicts          POST   -       401    403 400 403 400 400 400 404
run-contextual               GET    -       401    200 403 200 200 200 200 404
run-contextual               POST   -       401    403 403 403 403 422 422 404
contextual-set-list          GET    -       401    200 403 200 200 200 200 404
contextual-set-list          POST   -       401    403 403 403 403 400 400 404
contextual-set-detail        GET    -       401    200 403 200 200 200 200 404
contextual-set-detail        PATCH  asking  401    403 403 403 403 200 200 404
contextual-set-detail        DELETE -       401    403 403 403 403 204 404 404
contextual-set-cases         GET    -       401    200 403 200 200 200 200 404
contextual-set-image         GET    -       401    200 403 200 200 200 200 404
contextual-set-estimate      GET    -       401    403 403 403 403 200 200 404
campaign-list     GET    -       401    403 403 403 403 200 200 404
campaign-list     POST   -       401    403 403 403 403 400 400 404
campaign-detail   GET    -       401    403 403 403 403 200 200 404
campaign-detail   DELETE -       401    403 403 403 403 204 404 404
campaign-calibration GET -       401    403 403 403 403 200 200 404
campaign-failed   GET    -       401    403 403 403 403 200 200 404
campaign-start    POST   -       401    403 403 403 403 202 409 404
campaign-pause    POST   -       401    403 403 403 403 202 202 404
campaign-cancel   POST   -       401    403 403 403 403 202 409 404
campaign-publish  POST   -       401    403 403 403 403 409 409 404
campaign-try      POST   -       401    403 403 403 403 202 409 404
contradiction-list GET    -       401    403 403 403 403 200 200 404
contradiction-list POST   -       401    403 403 403 403 400 400 404
example-list      GET    -       401    403 403 403 403 200 200 404
example-list      POST   -       401    403 403 403 403 400 400 404
example-detail    GET    -       401    403 403 403 403 200 200 404
example-detail    DELETE -       401    403 403 403 403 204 204 404
webhook-list          GET    -        401    403 403 403 403 200 200 404
webhook-list          POST   webhook  401    403 403 403 403 201 201 404
webhook-detail        GET    -        401    403 403 403 403 200 200 404
webhook-detail        PATCH  told-of  401    403 403 403 403 200 200 404
webhook-secret        POST   -        401    403 403 403 403 200 200 404
webhook-test          POST   -        401    403 403 403 403 202 202 404
webhook-delivery-list GET    -        401    403 403 403 403 200 200 404
webhook-resend        POST   -        401    403 403 403 403 202 202 404
webhook-detail        DELETE -        401    403 403 403 403 204 404 404
mail-choices          GET    -        401    200 200 200 200 200 200 200
mail-choices          PUT    told-of  401    200 200 200 200 200 200 200
judge-list        GET    -       401    403 403 403 403 200 200 404
judge-list        POST   -       401    403 403 403 403 400 400 404
judge-detail      GET    -       401    403 403 403 403 200 200 404
judge-detail      PATCH  faster  401    403 403 403 403 200 200 404
judge-detail      DELETE -       401    403 403 403 403 204 404 404
judge-try         POST   -       401    403 403 403 403 202 409 404
contextual-evaluation-list   GET    -       401    200 403 200 200 200 200 404
contextual-evaluation-list   POST   -       401    403 403 403 403 400 400 404
contextual-evaluation-detail GET    -       401    200 403 200 200 200 200 404
contextual-evaluation-detail DELETE -       401    403 403 403 403 204 404 404
contextual-evaluation-cases  GET    -       401    200 403 200 200 200 200 404
contextual-evaluation-cancel POST   -       401    403 403 403 403 409 409 404
contextual-evaluation-retry  POST   -       401    403 403 403 403 409 409 404
contextual-comparison        GET    -       401    200 403 200 200 200 200 404
upload-list           GET    -        401    403 403 403 403 200 200 404
upload-list           POST   -        401    403 403 403 403 400 400 404
upload-detail         GET    -        401    403 403 403 403 200 200 404
upload-detail         DELETE -        401    403 403 403 403 204 404 404
upload-import         POST   -        401    403 403 403 403 202 202 404
benchmark-detail      PATCH  renamed  401    403 403 403 403 200 200 404
run-list              GET    -        401    200 403 200 200 200 200 404
run-detail            GET    -        401    200 403 200 200 200 200 404
run-query             GET    -        401    200 403 200 200 200 200 404
runs-score            POST   -        401    403 403 403 403 202 202 404
reliability           GET    -        401    200 403 200 200 200 200 404
query-list            GET    -        401    200 200 200 200 200 200 404
query-detail          GET    -        401    200 200 200 200 200 200 404
query-draw-queries    GET    -        401    403 403 403 403 200 200 404
query-search          GET    -        401    403 403 403 200 200 200 404
query-search          POST   found    401    403 403 403 404 404 404 404
words-index           POST   -        401    403 403 403 202 202 202 404
document-detail       GET    -        401    404 404 404 404 404 404 404
search                GET    -        401    200 200 200 200 200 200 404
site-search           GET    -        401    200 200 200 200 200 200 200
corpus-list           GET    -        401    200 200 200 200 200 200 200
job-list              GET    -        401    403 403 403 403 200 200 404
job-events            GET    -        401    404 404 404 404 200 200 404
member-detail         DELETE -        401    403 403 403 403 403 204 404
invitation-list       GET    -        401    403 403 403 403 403 200 404
invitation-list       POST   invite   401    403 403 403 403 403 201 404
invitation-detail     GET    -        401    403 403 403 403 403 200 404
invitation-detail     DELETE -        401    403 403 403 403 403 204 404
invitation-accept     POST   link     401    404 404 404 404 404 404 404
team-list             GET    -        401    200 200 200 200 200 200 200
team-list             POST   team     401    201 409 409 409 409 409 409
team-detail           GET    -        401    404 404 404 404 404 200 404
team-detail           DELETE -        401    404 404 404 404 404 204 404
team-members          POST   mate     401    404 404 404 404 404 201 404
team-link             POST   -        401    404 404 404 404 404 201 404
team-join             POST   link     401    410 410 410 410 410 410 410
contamination-detail  DELETE -        401    403 403 403 403 204 404 404
contamination-clean   GET    -        401    200 200 200 200 200 200 404
contamination-clean   POST   -        401    403 403 403 403 201 409 404
split-queries         GET    -        401    200 200 200 200 200 200 404
agreement-detail      POST   -        401    403 403 403 202 202 202 404
case-list             GET    -        401    403 403 403 200 200 200 404
# Mia has judged the document herself.
case-list             POST   settle   401    403 403 403 201 403 201 404
case-detail           GET    -        401    403 403 403 200 403 200 404
policy-detail         GET    -        401    403 403 403 403 200 200 404
policy-detail         PUT    rule-of  401    403 403 403 403 200 200 404
slice-coverage        GET    -        401    403 403 403 200 200 200 404
guideline-detail      GET    -        401    200 200 200 200 200 200 404
guideline-detail      POST   guide    401    403 403 403 403 201 201 404
question-list         GET    -        401    403 403 403 403 200 200 404
question-answer       POST   answer   401    403 403 403 403 200 409 404
pools-to-judge        GET    -        401    200 200 200 200 200 200 200
pool-start            GET    -        401    403 200 403 200 200 200 404
pool-start            POST   version  401    403 200 403 200 200 200 404
pool-exchange         POST   want     401    403 409 403 409 409 409 404
pool-stop             POST   -        401    403 200 403 200 200 200 404
own-judgments         GET    -        401    200 200 200 200 200 200 200
own-judgment          GET    -        401    404 200 404 404 404 404 404
own-judgment          PATCH  regrade  401    404 200 404 404 404 404 404
own-hours             GET    -        401    200 200 200 200 200 200 200
own-questions         GET    -        401    200 200 200 200 200 200 200
pool-simulations      POST   -        401    403 403 403 403 400 400 404
pool-release          POST   holder   401    403 403 403 403 200 200 404
pool-waive            POST   -        401    403 403 403 403 200 200 404
stale-list            GET    -        401    403 403 403 403 200 200 404
stale-list            POST   -        401    403 403 403 403 200 200 404
known-grade-list      GET    -        401    403 403 403 403 200 200 404
known-grade-list      POST   known    401    403 403 403 403 422 422 404
known-grade-settled   GET    -        401    403 403 403 403 200 200 404
known-grade-detail    GET    -        401    403 403 403 403 200 200 404
known-grade-detail    DELETE -        401    403 403 403 403 204 404 404
"""
BODIES = {
    "asking": {"asks_people": False},
    "found": {"document": "d9", "grade": 1, "client_id": str(uuid4())},
    "invite": {"role": "viewer"},
    "link": {"link": "https://bench.example.org/join/nothing/"},
    "team": {"name": "the eager"},
    "mate": {"username": "ada"},
    "settle": {"query": "q1", "document": "d1", "client_id": str(uuid4()), "grade": 0},
    "rule-of": {"rule": "majority"},
    "guide": {"text": "Be fair."},
    "answer": {"answer": "Yes."},
    "version": {"version": 1},
    "want": {"want": 1},
    "regrade": {"client_id": str(uuid4()), "grade": 1},
    "holder": {"annotator": "ada"},
    "known": {"grades": [{"query": "q1", "document": "d1", "grade": 1}]},
    "lines": {"n": 1},
    "-": None,
    "faster": {"concurrency": 9},
    "webhook": {"url": "https://ci.example.org/hook", "events": ["job.failed"]},
    "told-of": {"events": ["release.published"]},
    "lifted": {"is_blindness_lifted": True},
    "given": {"mode": "given", "given": {"nothing": "test"}},
    "hidden": {"hidden": []},
    "labels": {
        "source": "a crowd",
        "labels": [{"query": "q1", "document": "d1", "grade": 1, "annotator": "W1"}],
    },
    "pool": {"name": "next", "runs": ["bm25"]},
    "new": {"name": "another benchmark"},
    "state": {"state": "paused"},
    "qrels": {"name": "ours"},
    "mapped": {"grade_map": "1=2"},
    "corpus": {"lang": "de"},
    "grades": {"qrels": 10**9},
    "fetch": {"collection": "beir:scifact"},
    "take": {"decision": "take"},
    "draft": {"qrels": "official", "notes": "more"},
    "reason": {"reason": "wrong grades"},
    "other": {"other": 10**9},
    "said": {"query_a": "q1", "query_b": "q1", "verdict": "same"},
    "list": {"rows": [{"query": "q1", "document": "d9"}]},
    "top-up": {"runs": ["dense"]},
    "sample": {"n_families": 5},
    "closing": {"closes_at": "2099-01-01T00:00:00Z"},
    "slice": {"rule": {"kind": "length", "to": 9}},
    "renamed": {"description": "what is short"},
    "queries": {"queries": ["q1"]},
    "verdict": {"verdict": "confirm", "queries": ["q1"]},
    "gate": {"policy": "nightly", "candidate": "dense"},
    "online": {"outcome": "better", "metric": "clicks", "has_no_interval": True},
    "rehearsal": {"name": "next", "baseline": "bm25", "runs": ["dense"]},
    "policy": {"name": "next", "baseline": "bm25"},
    "pair": {"runs": ["bm25", "nobody"]},
    "system": {
        "url": "https://search.example.org/docs/_search",
        "template": '{"q": {{query}}}',
        "kind": "json",
        "results_path": "hits",
        "id_path": "id",
    },
    "value": {"system": "a", "measure": "AP", "value": 0.5, "source": "a paper"},
    "rule": {"rule": {"kind": "expression", "expression": "length < 9"}},
}
MEMBERS = {"type", "title", "status", "detail", "instance", "code", "message", "facts"}
CODES = {401: "not-authenticated", 403: "forbidden", 404: "not-found"}


def _rows() -> list[tuple[str, str, str, list[int]]]:
    lines = [line.split() for line in TABLE.strip().splitlines() if not line.startswith("#")]
    return [
        (name, how, body, [int(n) for n in words] * (len(PEOPLE) if len(words) == 1 else 1))
        for name, how, body, *words in lines
    ]


ROWS = _rows()
# What a token must be good for, where it is not "read" (GET) or "manage" (all other methods).
# Of the site as a whole, for its managers: nobody of the cast is one.
MANAGED = {"site-events", "site-event-export", "account-export", "account-delete"}
SCOPES = {
    ("contextual-verdicts", "POST"): "judge",
    ("site-events", "GET"): "manage",
    ("site-event-export", "GET"): "manage",
    ("account-export", "GET"): "manage",
    ("comparison-list", "POST"): "read",
    ("comparison-robustness", "POST"): "read",
    ("log-sample-preview", "POST"): "read",
    ("slice-preview", "POST"): "read",
    ("split-preview", "POST"): "read",
    ("submission-list", "POST"): "submit",
    ("submission-embeddings", "POST"): "submit",
    ("submission-withdraw", "POST"): "submit",
    ("submission-leave-out", "POST"): "submit",
    ("submission-send-on", "POST"): "submit",
    ("contrastive-list", "POST"): "submit",
    ("contrastive-detail", "DELETE"): "submit",
    ("gate-list", "POST"): "submit",
    ("gate-online", "POST"): "submit",
    ("gate-online-log", "POST"): "submit",
    ("reported-list", "POST"): "submit",
    ("reported-detail", "PATCH"): "submit",
    ("reported-detail", "DELETE"): "submit",
    ("judgments-import", "POST"): "judge",
    ("query-search", "POST"): "judge",
    ("case-list", "POST"): "judge",
    ("pool-start", "POST"): "judge",
    ("pool-exchange", "POST"): "judge",
    ("pool-stop", "POST"): "judge",
    ("own-judgment", "PATCH"): "judge",
}


@pytest.fixture(scope="module")
def made(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[tuple[Any, Any, Path]]:
    """People, addresses and files: made once, for each test takes back what it changed."""
    folder = tmp_path_factory.mktemp("api")
    hasher = f"{MD5PasswordHasher.__module__}.{MD5PasswordHasher.__name__}"
    patched = pytest.MonkeyPatch()
    patched.setattr("benchmarks_app.jobs.services.jobs.send", lambda job: None)
    with (
        override_settings(MEDIA_ROOT=folder, STAGING_DIR=folder, PASSWORD_HASHERS=[hasher]),
        django_db_blocker.unblock(),
        transaction.atomic(),
    ):
        of = factories.benchmark(slug="stdlib", name="Standard library")
        people = _people(of)
        yield people, _urls(of, people), folder
        transaction.set_rollback(True)
    patched.undo()


@pytest.fixture
def cast(made, db) -> dict[str, User]:
    return made[0]


@pytest.fixture
def urls(made, db, folders, settings) -> dict[str, str]:
    settings.MEDIA_ROOT = made[2]
    return made[1]


def _people(benchmark: Benchmark) -> dict[str, User]:
    roles = {
        "vi": Role.VIEWER,
        "ada": Role.ANNOTATOR,
        "sam": Role.SUBMITTER,
        "bo": Role.ADJUDICATOR,
        "mia": Role.MAINTAINER,
        "olga": Role.OWNER,
    }
    people = {name: factories.member(benchmark, name, role) for name, role in roles.items()}
    people["cy"] = factories.member(factories.benchmark("other"), "cy", Role.OWNER)
    return people


def _urls(benchmark: Benchmark, cast: dict[str, User]) -> dict[str, str]:
    """The address of each endpoint, with something behind it."""
    small_pool = pool(benchmark, {"q1": ["d1"]}, overlap=2)
    for slot, who, grade in zip(
        small_pool.slots.order_by("pk"), ("ada", "mia"), (0, 3), strict=True
    ):
        judge(slot, cast[who], grade)
    run = factories.run(benchmark, "q1 Q0 d1 1 1.0 s", name="bm25")
    dense = factories.run(benchmark, "q1 Q0 d9 1 1.0 s", name="dense")
    qrels = factories.qrel_set(benchmark, {("q1", "d1"): 1}, name="official")
    QrelSet.objects.filter(pk=qrels.pk).update(n_relevant=1)
    if not benchmark.releases.exists():
        factories.release(QrelSet.objects.get(pk=qrels.pk), "1.0.0", by=cast["olga"])
    phase = benchmark.phases.first()
    sent = phase.submissions.create(run=dense, name="dense", submitter=cast["sam"], state="scored")
    draft = create_draft(user=cast["olga"], qrel_set=QrelSet.objects.get(pk=qrels.pk))
    factories.rule_slice(benchmark, "short")
    log = benchmark.query_logs.first() or factories.read_log(benchmark)
    job = benchmark.jobs.create(kind="test", title="a", created_by=cast["olga"], state="done")
    lost = benchmark.jobs.create(kind="test", title="b", created_by=cast["olga"], state="failed")
    at_work = benchmark.jobs.create(kind="test", title="c", state="running", token=uuid4())
    check = factories.contamination_check(benchmark, result={"slices": []})
    waiting = factories.waiting_upload(benchmark, "new.csv", b"qid,text\nnew,what is new\n")
    embedded = factories.embedding_pair(benchmark, cast["sam"])
    of = f"/api/v1/benchmarks/{benchmark.slug}/"
    family = f"{of}families/{benchmark.queries.get(qid='q1').family_id}/"
    asked = benchmark.queries.get(qid="q1")
    draw = draw_families(benchmark=benchmark, n=1, user=cast["olga"])
    return {
        "run-list": f"{of}runs/",
        "run-detail": f"{of}runs/{run.pk}/",
        "run-query": f"{of}runs/{run.pk}/queries/q1/",
        "runs-score": f"{of}runs/score/",
        "reliability": f"{of}reliability/",
        "query-list": f"{of}queries/",
        "query-detail": f"{of}queries/{asked.pk}/",
        "query-draw-queries": f"{of}query-draws/{draw.pk}/queries/",
        "query-search": f"{of}queries/{asked.pk}/search/",
        "words-index": f"{of}corpus/searchable/",
        "document-detail": f"{of}documents/nothing/",
        "search": f"{of}search/?q=q1",
        "site-search": "/api/v1/search/?q=a",
        "corpus-list": "/api/v1/corpora/",
        "job-list": f"{of}jobs/",
        "job-events": f"/api/v1/jobs/{job.pk}/events/",
        "contamination-clean": f"{of}contamination/{check.pk}/clean/",
        "split-queries": f"{of}splits/queries/",
        "policy-detail": f"{of}qrels/policy/",
        "slice-coverage": f"{of}pools/slices/",
        **_people_urls(of, benchmark, cast),
        **_judging_urls(of, small_pool, cast),
        "family-list": f"{of}families/",
        "family-links": f"{of}families/links/",
        "family-group": f"{of}families/group/",
        "family-confirm-several": f"{of}families/confirm/",
        "family-undo": f"{of}families/undo/",
        "family-detail": family,
        "family-merge": f"{family}merge/",
        "family-split": f"{family}split/",
        "family-verdict": f"{family}verdict/",
        "family-confirm": f"{family}confirm/",
        "agreement-detail": f"{of}agreement/",
        "candidates-list": f"{of}candidates/",
        "top-up-list": f"{of}top-ups/?runs=bm25,{dense.name}",
        "planner": f"{of}planner/?delta=0.05",
        "ann": f"{of}ann/?exact=bm25&approximate={dense.pk}",
        "freshness-detail": f"{of}freshness/",
        "reusability-detail": f"{of}releases/1.0.0/reusability/",
        **_gate_urls(of, dense, policy_of(run, cast["olga"])),
        "comparison-list": f"{of}comparisons/",
        "comparison-queries": f"{of}comparisons/queries/",
        "comparison-results": f"{of}comparisons/results/",
        "comparison-robustness": f"{of}comparisons/robustness/",
        "comparison-detail": f"{of}comparisons/{'0' * 64}/",
        "corpus-detail": f"{of}corpus/",
        "document-grades-list": f"{of}qrels/by-document/",
        "fetch-list": f"{of}corpus/fetch/",
        "snapshot-detail": f"{of}corpus/versions/{factories.snapshot_row(benchmark).number}/",
        "benchmark-list": "/api/v1/benchmarks/",
        "benchmark-detail": of,
        "export-list": f"{of}releases/1.0.0/exports/",
        "export-detail": f"{of}releases/1.0.0/exports/trec/",
        "release-list": f"{of}releases/",
        "release-detail": f"{of}releases/1.0.0/",
        "release-file": f"{of}releases/1.0.0/files/qrels.trec",
        "release-deprecate": f"{of}releases/1.0.0/deprecate/",
        "release-draft": f"{of}releases/drafts/{draft.pk}/",
        "release-draft-check": f"{of}releases/drafts/{draft.pk}/check/",
        "release-draft-publish": f"{of}releases/drafts/{draft.pk}/publish/",
        "run-export": f"{of}runs/{run.pk}/export/",
        "run-scores": f"{of}runs/{run.pk}/scores/",
        "run-queries": f"{of}runs/{run.pk}/queries/",
        "run-contextual": f"{of}runs/{run.pk}/contextual/",
        "run-withdraw": f"{of}runs/{run.pk}/withdraw/",
        "run-holes": f"{of}runs/{run.pk}/holes/",
        "probing-list": f"{of}runs/probing/",
        "probing-settle": f"{of}runs/probing/{_flag(run, cast['sam']).pk}/settle/",
        "click-qrels": f"{of}qrels/clicks/",
        "log-list": f"{of}logs/",
        "log-detail": f"{of}logs/{log.pk}/",
        "log-samples": f"{of}logs/{log.pk}/samples/",
        "log-sample-preview": f"{of}logs/{log.pk}/samples/preview/",
        "rescoring-detail": f"{of}releases/1.0.0/rescoring/",
        "moves-detail": f"{of}releases/1.0.0/moves/",
        "job-detail": f"/api/v1/jobs/{job.pk}/",
        "job-cancel": f"/api/v1/jobs/{at_work.pk}/cancel/",
        "job-retry": f"/api/v1/jobs/{lost.pk}/retry/",
        "me-detail": "/api/v1/me/",
        "me-export": "/api/v1/me/export/",
        "me-delete": "/api/v1/me/delete/",
        "me-address-link": "/api/v1/me/address-link/",
        "event-list": f"{of}audit/",
        "event-export": f"{of}audit/export/",
        "site-events": "/api/v1/audit/",
        "site-event-export": "/api/v1/audit/export/",
        "account-export": f"/api/v1/accounts/{cast['ada'].pk}/export/",
        "account-delete": f"/api/v1/accounts/{cast['ada'].pk}/delete/",
        "member-list": f"{of}people/",
        "member-detail": f"{of}people/{cast['ada'].memberships.get().pk}/",
        "leaderboard-detail": f"{of}releases/1.0.0/leaderboard/",
        "comparison-corrected": f"{of}comparisons/corrected/",
        "leaderboard-corrected": f"{of}releases/1.0.0/leaderboard/corrected/",
        "query-draw-list": f"{of}query-draws/",
        "leaderboard-slices": f"{of}releases/1.0.0/leaderboard/slices/",
        "leaderboard-history": f"{of}releases/1.0.0/leaderboard/history/",
        "baseline-list": f"{of}baselines/",
        "live-list": f"{of}live/",
        "live-detail": (live := f"{of}live/{factories.live_system(benchmark).pk}/"),
        "live-try": f"{live}try/",
        "live-ask": f"{live}ask/",
        "run-latencies": f"{of}runs/{factories.timed(dense).pk}/latencies/",
        "reported-list": f"{of}reported/",
        "reported-detail": f"{of}reported/{factories.reported(benchmark, cast['olga']).pk}/",
        "judgments-export": f"{of}judgments/",
        "judgments-import": f"{of}judgments/import/",
        "contrastive-list": f"{of}contrastive/",
        "contrastive-detail": f"{of}contrastive/{embedded.pk}/",
        "contrastive-ranks": f"{of}contrastive/{embedded.pk}/ranks/",
        "pair-detail": f"{of}pair/?query=q1&document=d1",
        "phase-list": f"{of}phases/",
        "phase-detail": f"{of}phases/{sent.phase_id}/",
        "phase-close": f"{of}phases/{sent.phase_id}/close/",
        "submission-embeddings": f"{of}submissions/embeddings/",
        "submission-list": f"{of}submissions/",
        "submission-detail": f"{of}submissions/{sent.pk}/",
        "submission-withdraw": f"{of}submissions/{sent.pk}/withdraw/",
        "submission-leave-out": f"{of}submissions/{sent.pk}/leave-out/",
        "submission-send-on": f"{of}submissions/{sent.pk}/send-on/",
        "pool-list": f"{of}pools/",
        "pool-detail": f"{of}pools/{small_pool.pk}/",
        "pool-estimates": f"{of}pools/{small_pool.pk}/estimates/",
        "pool-queue": f"{of}pools/{small_pool.pk}/queue/",
        "pool-sparing": f"{of}pools/{small_pool.pk}/sparing/",
        "pool-people": f"{of}pools/{small_pool.pk}/people/",
        "pool-report": f"{of}pools/{small_pool.pk}/report/",
        "qrels-list": f"{of}qrels/",
        "qrels-detail": f"{of}qrels/{qrels.pk}/",
        "qrels-map": f"{of}qrels/{qrels.pk}/map/",
        "qrels-download": f"{of}qrels/{qrels.pk}/download/",
        "contamination-list": f"{of}contamination/",
        "contamination-salt": f"{of}contamination/salt/",
        "contamination-detail": f"{of}contamination/{check.pk}/",
        "contamination-matches": f"{of}contamination/{check.pk}/matches/",
        "leak-report": f"{of}splits/leaks/",
        "leak-report-markdown": f"{of}splits/leaks.md",
        "split-detail": f"{of}splits/",
        "split-preview": f"{of}splits/preview/",
        "split-hide": f"{of}splits/hide/",
        "slice-list": f"{of}slices/",
        "slice-detail": f"{of}slices/short/",
        "slice-members": f"{of}slices/short/queries/",
        "slice-decide": f"{of}slices/short/decide/",
        "slice-preview": f"{of}slices/preview/",
        "slice-refresh": f"{of}slices/short/refresh/",
        "slice-register": f"{of}slices/short/register/",
        "slice-import": f"{of}slices/import/",
        **_webhook_urls(of, benchmark, cast["olga"]),
        **_contextual_urls(of, benchmark, cast["olga"]),
        **_campaign_urls(of, benchmark.pools.earliest("pk"), cast["olga"]),
        "upload-list": f"{of}uploads/",
        "upload-detail": f"{of}uploads/{waiting.pk}/",
        "upload-import": f"{of}uploads/{waiting.pk}/import/",
    }


def _people_urls(of: str, benchmark: Benchmark, cast: dict[str, User]) -> dict[str, str]:
    """An invitation that is open, and a team of the owner."""
    invited = people.invite(benchmark=benchmark, role=Role.VIEWER, actor=cast["olga"], days=3)
    team = f"/api/v1/me/teams/{teams.make_team(name='ours', user=cast['olga']).pk}/"
    return {
        "invitation-list": f"{of}people/invitations/",
        "invitation-detail": f"{of}people/invitations/{invited.invitation.pk}/",
        "invitation-accept": "/api/v1/me/invitations/accept/",
        "team-list": "/api/v1/me/teams/",
        "team-join": "/api/v1/me/teams/join/",
        "team-detail": team,
        "team-members": f"{team}members/",
        "team-link": f"{team}link/",
    }


def _judging_urls(of: str, made: Pool, cast: dict[str, User]) -> dict[str, str]:
    """What is to be settled, Ada's judgment and question, and a known grade."""
    entry = made.entries.select_related("query", "document").get()
    slot = made.slots.earliest("pk")
    asked = Question.objects.create(
        entry=entry, slot=slot, asked_by=cast["ada"], client_id=uuid4(), text="Really?"
    )
    known = KnownGrade.objects.create(entry=entry, purpose="gold", grade=1, set_by=cast["olga"])
    own = made.benchmark.judgments.get(actor=cast["ada"])
    at = f"{of}pools/{made.pk}/"
    return {
        "case-list": f"{of}adjudication/",
        "case-detail": f"{of}adjudication/case/?query=q1&document=d1",
        "guideline-detail": f"{of}guideline/",
        "question-list": f"{of}questions/",
        "question-answer": f"{of}questions/{asked.pk}/answer/",
        "pools-to-judge": "/api/v1/me/pools/",
        "own-judgments": "/api/v1/me/judgments/",
        "own-judgment": f"/api/v1/me/judgments/{own.pk}/",
        "own-hours": "/api/v1/me/hours/",
        "own-questions": "/api/v1/me/questions/",
        "pool-simulations": f"{of}pools/simulations/",
        **{f"pool-{act}": f"{at}{act}/" for act in ("start", "exchange", "stop")},
        **{f"pool-{act}": f"{at}{act}/" for act in ("release", "waive")},
        "stale-list": f"{at}stale/",
        "known-grade-list": f"{at}known/",
        "known-grade-settled": f"{at}known/settled/",
        "known-grade-detail": f"{at}known/{known.pk}/",
    }


def _campaign_urls(of: str, pool: Pool, owner: User) -> dict[str, str]:
    """A campaign that may be deleted, one to start, one to try and one that is under way."""
    judge = making_machines.judge(pool.benchmark, "grader")
    entry = pool.entries.select_related("query", "document").first()
    made = {}
    for name in ("draft", "ready", "tried", "under way"):
        made[name] = making_machines.campaign(pool, judge=judge, name=name, created_by=owner)
        making_machines.pair(made[name], entry.query, entry.document.docid)
    facts = {"kind": "judge-pool", "title": "Ask", "state": "running", "token": uuid4()}
    job = Job.objects.create(benchmark=pool.benchmark, created_by=owner, **facts)
    made["under way"].state, made["under way"].job = "running", job
    made["under way"].save()
    at = {name: f"{of}campaigns/{record.pk}/" for name, record in made.items()}
    word = pool.benchmark.judgments.filter(grade__isnull=False).earliest("pk")
    example = word.examples.create(benchmark=pool.benchmark, text="So.", created_by=owner)
    return {
        "campaign-list": f"{of}campaigns/",
        "campaign-detail": at["draft"],
        "campaign-calibration": f"{at['ready']}calibration/",
        "contradiction-list": f"{at['ready']}contradictions/",
        "example-list": f"{of}grade-examples/",
        "example-detail": f"{of}grade-examples/{example.pk}/",
        "campaign-failed": f"{at['ready']}failed/",
        "campaign-start": f"{at['ready']}start/",
        "campaign-pause": f"{at['under way']}pause/",
        "campaign-cancel": f"{at['under way']}cancel/",
        "campaign-publish": f"{at['tried']}publish/",
        "campaign-try": f"{at['tried']}try/",
    }


def _webhook_urls(of: str, benchmark: Benchmark, owner: User) -> dict[str, str]:
    sent = factories.delivery(benchmark, owner)
    at = f"{of}webhooks/{sent.webhook_id}/"
    return {
        "webhook-list": f"{of}webhooks/",
        "webhook-detail": at,
        "webhook-secret": f"{at}secret/",
        "webhook-test": f"{at}test/",
        "webhook-delivery-list": f"{at}deliveries/",
        "webhook-resend": f"{at}deliveries/{sent.pk}/send/",
        "mail-choices": "/api/v1/me/mails/",
    }


def _contextual_urls(of: str, benchmark: Benchmark, owner: User) -> dict[str, str]:
    """A set with an image, and two evaluations of it that are done."""
    cases = [making_contextual.case(1, {"image": "a.png"})]
    made = making_contextual.case_set(benchmark, owner, cases, {"a.png": making_contextual.png()})
    judge = making_contextual.judge(benchmark, owner, "https://judge.example.org/v1")
    first, second = (making_contextual.judged(made, judge, owner) for _ in range(2))
    ask_people(case_set=made, user=owner, is_asked=True)
    sets, evaluation = f"{of}contextual/sets/{made.pk}/", f"{of}contextual/evaluations/{first.pk}/"
    asked = f"?before={second.pk}&after={second.pk}"
    return {
        "contextual-set-list": f"{of}contextual/sets/",
        "contextual-set-detail": sets,
        "contextual-set-cases": f"{sets}cases/",
        "contextual-verdicts": f"{sets}verdicts/",
        "contextual-set-image": f"{sets}images/{made.images.get().pk}/",
        "contextual-set-estimate": f"{sets}estimate/",
        "judge-list": f"{of}contextual/judges/",
        "judge-detail": f"{of}contextual/judges/{judge.pk}/",
        "judge-try": f"{of}contextual/judges/{judge.pk}/try/",
        "contextual-evaluation-list": f"{of}contextual/evaluations/",
        "contextual-evaluation-detail": evaluation,
        "contextual-evaluation-cases": f"{evaluation}cases/",
        "contextual-evaluation-cancel": f"{evaluation}cancel/",
        "contextual-evaluation-retry": f"{evaluation}retry/",
        "contextual-comparison": f"{of}contextual/comparison/{asked}",
    }


def _gate_urls(of: str, candidate: Run, policy: GatePolicy) -> dict[str, str]:
    release = candidate.benchmark.releases.published().newest_first().first()
    gate = gate_of(policy, candidate, release).pk
    rehearsal = rehearsal_of(policy, [candidate], release).pk
    return {
        "gate-list": f"{of}gates/",
        "gate-detail": f"{of}gates/{gate}/",
        "gate-report": f"{of}gates/{gate}/report.xml",
        "gate-online": f"{of}gates/{gate}/online/",
        "gate-online-log": f"{of}gates/{gate}/online/log/",
        "gate-came-true": f"{of}gates/came-true/",
        "gate-policy-list": f"{of}gates/policies/",
        "gate-policy-detail": f"{of}gates/policies/{policy.pk}/",
        "gate-policy-retire": f"{of}gates/policies/{policy.pk}/retire/",
        "gate-rehearsal-list": f"{of}gates/rehearsals/",
        "gate-rehearsal-detail": f"{of}gates/rehearsals/{rehearsal}/",
    }


def _flag(run: Run, by: User) -> ProbingFlag:
    """The run's scores on the newest release, and its submission, which looks like probing."""
    release = run.benchmark.releases.published().newest_first().first()
    score_run(run=run, target=Target.of(release), folder=settings.STAGING_DIR / f"api-{run.pk}")
    phase = run.benchmark.phases.get(release=release)
    sent = phase.submissions.create(run=run, name=run.name, submitter=by, state="scored")
    evidence = {"depth": 10, "n_queries": 40, "n_differing": 1, "share_equal": 0.99}
    return sent.probing_flags.create(
        kind="single_query", evidence={**evidence, "queries": ["q1"], "n_compared": 1}
    )


def by_session(person: User | None) -> Client:
    client = Client()
    if person:
        client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return client


def by_token(person: User | None, **values: object) -> Client:
    if person is None:
        return Client()
    issued = create_api_token(user=person, name="test", days=1)
    if values:
        ApiToken.objects.filter(pk=issued.token.pk).update(**values)
    return Client(headers={"Authorization": f"Bearer {issued.secret}"})


def ask(client: Client, how: str, url: str, body: str) -> tuple[int, bytes]:
    sent = BODIES.get(body)
    if body == "list":  # a name that nobody has taken
        sent = {**sent, "name": f"list {CandidateList.objects.count()}"}
    if body == "system":
        sent = {**sent, "name": f"system {LiveSystem.objects.count()}"}
    if body == "slice":
        sent = {**sent, "name": f"slice {Slice.objects.count()}"}
    response = client.generic(
        how, url, json.dumps(sent) if sent else "", content_type="application/json"
    )
    content = b"".join(response) if response.streaming else response.content
    return response.status_code, content


def test_table_has_every_endpoint():
    named = {a.name.removeprefix("api:") for a in addresses() if a.name.startswith("api:")}

    assert named == {name for name, *_ in ROWS}


@pytest.mark.parametrize(
    "way",
    [
        pytest.param(by_session, id="session", marks=pytest.mark.in_thirds),
        pytest.param(by_token, id="token"),
    ],
)
@pytest.mark.parametrize(("name", "how", "body", "words"), ROWS, ids=lambda value: str(value)[:20])
def test_answer_is_that_of_the_table(
    urls, cast, way: Callable[..., Client], name, how, body, words
):
    answers = [ask(way(cast.get(who)), how, urls[name], body) for who in PEOPLE]

    assert [status for status, _ in answers] == words
    for who, (status, content) in zip(PEOPLE, answers, strict=True):
        if status in CODES:
            error = json.loads(content)
            assert set(error) - {"errors", "problems"} == MEMBERS
            # Ada may still be asked to judge, and is told so where she might look otherwise.
            is_withheld = who == "ada" and status == 403 != answers[1][0]
            is_own = who == "mia" and name.startswith("case-")
            told_why = "still-judging" if is_withheld else "own-label" if is_own else CODES[status]
            assert error["code"] == told_why


@pytest.mark.parametrize(("name", "how", "body", "words"), ROWS, ids=lambda value: str(value)[:20])
def test_token_opens_what_its_scope_is_for_and_names_the_one_it_lacks(
    urls, cast, name, how, body, words
):
    needed = SCOPES.get((name, how), "read" if how == "GET" else "manage")
    User.objects.filter(pk=cast["olga"].pk).update(is_staff=name in MANAGED)
    others = [scope for scope in Scope.values if scope != needed]

    for scopes in ([], *([scope] for scope in others), others):
        status, content = ask(by_token(cast["olga"], scopes=scopes), how, urls[name], body)
        error = json.loads(content)
        assert (status, error["code"], error["facts"]) == (403, "scope", {"scope": needed})
        assert f"“{needed}”" in error["message"]
    status, _ = ask(by_token(cast["olga"], scopes=[needed]), how, urls[name], body)
    assert status in ({200, 400} if name in MANAGED else set(words) - {401, 403})


def test_every_scope_opens_something():
    assert {*SCOPES.values(), "manage"} == set(Scope.values)


@pytest.mark.parametrize(
    "values",
    [
        {"revoked_at": timezone.now()},
        {
            "created_at": timezone.now() - timedelta(days=2),
            "expires_at": timezone.now() - timedelta(seconds=1),
        },
        {"secret_digest": "another"},
    ],
    ids=["revoked", "expired", "unknown"],
)
def test_token_that_is_no_longer_good_opens_nothing(urls, cast, values):
    client = by_token(cast["olga"], **values)

    answers = {row[:2]: ask(client, row[1], urls[row[0]], row[2]) for row in ROWS}

    assert {
        row: answer
        for row, answer in answers.items()
        if answer[0] != 401 or json.loads(answer[1])["code"] != "token-invalid"
    } == {}


def test_token_of_somebody_who_left_opens_nothing(urls, cast):
    client = by_token(cast["olga"])
    User.objects.filter(pk=cast["olga"].pk).update(is_active=False)

    assert ask(client, "GET", urls["pool-list"], "-")[0] == 401


def test_revoking_stops_a_token_at_once(urls, cast):
    issued = create_api_token(user=cast["olga"], name="test", days=1)
    client = Client(headers={"Authorization": f"Bearer {issued.secret}"})
    before, _ = ask(client, "GET", urls["pool-list"], "-")

    revoke_api_token(token=issued.token, actor=cast["olga"])

    assert (before, ask(client, "GET", urls["pool-list"], "-")[0]) == (200, 401)


@pytest.mark.parametrize(("name", "how", "body"), [row[:3] for row in ROWS if row[1] != "GET"])
def test_session_writes_only_with_its_csrf_token(urls, cast, name, how, body):
    client = Client(enforce_csrf_checks=True)
    client.force_login(cast["olga"], backend="django.contrib.auth.backends.ModelBackend")

    status, content = ask(client, how, urls[name], body)

    assert (status, json.loads(content)["code"]) == (403, "csrf")
    assert Pool.objects.get().state == "open"


def _limited_parameters() -> Iterator[tuple[str, str]]:
    """The endpoint and name of each parameter of an address that takes some values alone."""
    paths = json.loads((settings.BASE_DIR / "docs" / "openapi.json").read_text())["paths"]
    for path, operations in paths.items():
        parameters = operations.get("get", {}).get("parameters", [])
        name = resolve(re.sub(r"\{\w+\}", "1", path)).url_name
        for parameter in parameters:
            schema = parameter.get("schema", {})
            is_limited = "enum" in schema or schema.get("type") in {"integer", "number"}
            is_of_pages = parameter.get("name") in {"limit", "page", "page_size"}
            if parameter.get("in") == "query" and is_limited and not is_of_pages:
                yield name, parameter["name"]


def test_value_that_a_parameter_does_not_take_is_refused_and_not_passed_over(urls, cast):
    client = by_session(cast["olga"])
    User.objects.filter(pk=cast["olga"].pk).update(is_staff=True)

    passed_over = set()
    for name, parameter in set(_limited_parameters()):
        url = urls[name]
        status, _ = ask(client, "GET", f"{url}{'&' if '?' in url else '?'}{parameter}=no-such", "-")
        if status == 200:
            passed_over.add((name, parameter))

    # The planner counts the systems where there are runs.
    assert passed_over == {("planner", "systems")}


@pytest.mark.parametrize("name", ["pool-detail", "pool-people", "qrels-detail", "qrels-download"])
def test_number_of_another_benchmarks_object_is_not_found(urls, cast, name):
    factories.member(Benchmark.objects.get(slug="other"), "olga", "owner")
    url = urls[name].replace("/stdlib/", "/other/")

    assert ask(by_token(cast["olga"]), "GET", url, "-")[0] == 404


def test_public_benchmark_is_seen_by_everybody_and_its_pools_are_not(urls, cast):
    Benchmark.objects.update(visibility="public")

    assert ask(Client(), "GET", urls["benchmark-detail"], "-")[0] == 200
    assert ask(by_token(cast["cy"]), "GET", urls["pool-list"], "-")[0] == 403
    assert ask(Client(), "GET", urls["pool-list"], "-")[0] == 401
