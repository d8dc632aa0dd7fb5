"""Who gets what from the API: every endpoint and role, by session and by token."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from uuid import uuid4

import pytest
from django.conf import settings
from django.test import Client
from django.urls import resolve, reverse
from django.utils import timezone

from annotation.models import Judgment, Pool
from benchmarks_app.models import ApiToken, Benchmark, CandidateList, Scope, Slice, User
from benchmarks_app.people.services.api_tokens import create_api_token, revoke_api_token
from scoring.models import LiveSystem
from tests import factories
from tests.test_access import FORM, assert_browser_is_told
from tests.world import addresses

pytestmark = pytest.mark.django_db

PEOPLE = ("nobody", "vi", "ada", "sam", "bo", "mia", "olga", "cy")
# What is sent and what each gets; one number is everybody's. Mia has looked at the document on
# which two people of a file differ. Cy belongs to another benchmark; the two last columns are
# nobody and Cy on a public benchmark. Asked in another way than here, an address answers 405.
TABLE = """
# endpoint                     how    body      nobody vi  ada sam bo  mia olga cy  nobody cy
top-up-list                    GET    -         401    200 403 200 200 200 200  404 200    200
top-up-list                    POST   top-up    401    403 403 403 403 409 409  404 401    403
planner                        GET    -         401    200 403 200 200 200 200  404 200    200
ann                            GET    -         401    200 403 200 200 200 200  404 200    200
freshness-detail               GET    -         401    200 403 200 200 200 200  404 200    200
reusability-detail             GET    -         401    200 403 200 200 200 200  404 200    200
agreement-detail               GET    -         401    403 403 403 200 200 200  404 401    403
candidates-list                GET    -         401    403 403 403 403 200 200  404 401    403
candidates-list                POST   list      401    403 403 403 403 201 201  404 401    403
benchmark-list                 GET    -         200
# The name is taken once somebody made it.
benchmark-list                 POST   new       401    201 400 400 400 400 400  400 401    400
benchmark-detail               GET    -         401    200 200 200 200 200 200  404 200    200
export-list                    GET    -         401    200 403 200 200 200 200  404 200    200
export-detail                  GET    -         401    200 403 200 200 200 200  404 200    200
export-detail                  POST   -         401    403 403 403 403 202 202  404 401    403
run-scores                     GET    -         401    200 403 200 200 200 200  404 200    200
run-queries                    GET    -         401    200 403 200 200 200 200  404 200    200
run-holes                      GET    -         401    200 403 200 200 200 200  404 200    200
probing-list                   GET    -         401    403 403 403 403 200 200  404 401    403
probing-settle                 POST   -         401    403 403 403 403 200 200  404 401    403
run-export                     GET    -         401    200 403 200 200 200 200  404 200    200
release-list                   GET    -         401    200 403 200 200 200 200  404 200    200
release-list                   POST   draft     401    403 403 403 403 201 201  404 401    403
release-detail                 GET    -         401    200 403 200 200 200 200  404 200    200
release-file                   GET    -         401    200 403 200 200 200 200  404 200    200
release-deprecate              POST   reason    401    403 403 403 403 200 409  404 401    403
release-draft                  GET    -         401    403 403 403 403 200 200  404 401    403
release-draft                  PATCH  draft     401    403 403 403 403 200 200  404 401    403
release-draft                  DELETE -         401    403 403 403 403 204 404  404 401    403
release-draft-check            POST   -         401    403 403 403 403 202 202  404 401    403
release-draft-publish          POST   -         401    403 403 403 403 409 409  404 401    403
gate-list                      GET    -         401    200 403 200 200 200 200  404 200    200
gate-list                      POST   gate      401    403 403 200 403 200 200  404 401    403
gate-detail                    GET    -         401    200 403 200 200 200 200  404 200    200
gate-report                    GET    -         401    200 403 200 200 200 200  404 200    200
gate-online                    GET    -         401    200 403 200 200 200 200  404 200    200
gate-online                    POST   online    401    403 403 201 403 201 201  404 401    403
gate-online-log                POST   -         401    403 403 400 403 400 400  404 401    403
gate-came-true                 GET    -         401    200 403 200 200 200 200  404 200    200
gate-policy-list               GET    -         401    200 403 200 200 200 200  404 200    200
gate-policy-list               POST   policy    401    403 403 201 403 409 409  404 401    403
gate-policy-detail             GET    -         401    200 403 200 200 200 200  404 200    200
gate-policy-retire             POST   -         401    403 403 403 403 200 200  404 401    403
gate-rehearsal-list            POST   rehearsal 401    403 403 202 403 202 202  404 401    403
gate-rehearsal-detail          GET    -         401    403 403 404 403 200 200  404 401    403
comparison-list                GET    -         401    422 403 422 422 422 422  404 422    422
comparison-list                POST   pair      401    422 403 422 422 422 422  404 401    422
comparison-queries             GET    -         401    422 403 422 422 422 422  404 422    422
comparison-results             GET    -         401    422 403 422 422 422 422  404 422    422
comparison-robustness          GET    -         401    422 403 422 422 422 422  404 422    422
comparison-robustness          POST   pair      401    422 403 422 422 422 422  404 401    422
comparison-detail              GET    -         401    200 403 200 200 200 200  404 200    200
corpus-detail                  GET    -         401    200 200 200 200 200 200  404 200    200
corpus-detail                  PATCH  corpus    401    403 403 403 403 200 200  404 401    403
document-grades-list           POST   grades    401    403 403 403 403 404 404  404 401    403
fetch-list                     POST   fetch     401    403 403 403 403 202 202  404 401    403
snapshot-detail                GET    -         401    403 403 403 403 200 200  404 401    403
snapshot-detail                POST   take      401    403 403 403 403 200 409  404 401    403
click-qrels                    POST   -         401    403 403 403 403 400 400  404 401    403
log-list                       GET    -         401    403 403 403 403 200 200  404 401    403
log-list                       POST   -         401    403 403 403 403 400 400  404 401    403
log-detail                     GET    -         401    403 403 403 403 200 200  404 401    403
log-samples                    GET    -         401    403 403 403 403 200 200  404 401    403
log-samples                    POST   sample    401    403 403 403 403 202 202  404 401    403
log-sample-preview             POST   sample    401    403 403 403 403 200 200  404 401    403
family-list                    GET    -         401    200 200 200 200 200 200  404 200    200
family-links                   GET    -         401    200 200 200 200 200 200  404 200    200
family-detail                  GET    -         401    200 200 200 200 200 200  404 200    200
family-group                   POST   -         401    403 403 403 403 202 202  404 401    403
family-merge                   POST   other     401    403 403 403 403 404 404  404 401    403
family-split                   POST   queries   401    403 403 403 403 422 422  404 401    403
family-verdict                 POST   said      401    403 403 403 403 422 422  404 401    403
family-confirm                 POST   -         401    403 403 403 403 200 200  404 401    403
family-confirm-several         POST   -         401    403 403 403 403 400 400  404 401    403
family-undo                    POST   -         401    403 403 403 403 409 409  404 401    403
job-cancel                     POST   -         401    404 404 404 404 200 409  404 401    404
job-retry                      POST   -         401    404 404 404 404 202 409  404 401    404
rescoring-detail               GET    -         401    200 403 200 200 200 200  404 200    200
rescoring-detail               POST   -         401    403 403 403 403 202 202  404 401    403
moves-detail                   GET    -         401    200 403 200 200 200 200  404 200    200
job-detail                     GET    -         401    404 404 404 404 200 200  404 401    404
member-list                    GET    -         401    403 403 403 403 403 200  404 401    403
member-detail                  GET    -         401    403 403 403 403 403 200  404 401    403
member-detail                  PATCH  lifted    401    403 403 403 403 403 200  404 401    403
me-export                      GET    -         401    200 200 200 200 200 200  200 401    200
me-address-link                POST   -         401    202 202 202 202 202 202  202 401    202
me-delete                      POST   -         401    400 400 400 400 400 400  400 401    400
event-list                     GET    -         401    403 403 403 403 200 200  404 401    403
event-export                   GET    -         401    403 403 403 403 200 200  404 401    403
site-events                    GET    -         401    403 403 403 403 403 403  403 401    403
site-event-export              GET    -         401    403 403 403 403 403 403  403 401    403
account-export                 GET    -         401    403 403 403 403 403 403  403 401    403
account-delete                 POST   -         401    403 403 403 403 403 403  403 401    403
me-detail                      GET    -         401    200 200 200 200 200 200  200 401    200
leaderboard-detail             GET    -         401    200 403 200 200 200 200  404 200    200
comparison-corrected           GET    -         401    422 403 422 422 422 422  404 422    422
leaderboard-corrected          GET    -         401    200 403 200 200 200 200  404 200    200
query-draw-list                GET    -         401    403 403 403 403 200 200  404 401    403
query-draw-list                POST   -         401    403 403 403 403 400 400  404 401    403
leaderboard-slices             GET    -         401    200 403 200 200 200 200  404 200    200
leaderboard-history            GET    -         401    200 403 200 200 200 200  404 200    200
baseline-list                  GET    -         401    200 403 200 200 200 200  404 200    200
baseline-list                  POST   -         401    403 403 403 403 202 202  404 401    403
live-list                      GET    -         401    200 403 200 200 200 200  404 200    200
live-list                      POST   system    401    403 403 403 403 201 201  404 401    403
live-detail                    GET    -         401    200 403 200 200 200 200  404 200    200
live-detail                    PATCH  renamed   401    403 403 403 403 200 200  404 401    403
live-detail                    DELETE -         401    403 403 403 403 204 404  404 401    403
live-try                       POST   -         401    403 403 403 403 400 400  404 401    403
live-ask                       POST   -         401    403 403 403 403 202 409  404 401    403
run-latencies                  GET    -         401    200 403 200 200 200 200  404 200    200
reported-list                  GET    -         401    200 403 200 200 200 200  404 200    200
reported-list                  POST   value     401    403 403 201 403 201 201  404 401    403
reported-detail                GET    -         401    200 403 200 200 200 200  404 200    200
reported-detail                PATCH  value     401    403 403 403 403 200 200  404 401    403
reported-detail                DELETE -         401    403 403 403 403 204 404  404 401    403
judgments-export               GET    -         401    403 403 403 403 200 200  404 401    403
judgments-import               POST   labels    401    403 403 403 403 200 200  404 401    403
contrastive-list               GET    -         401    200 403 200 200 200 200  404 200    200
contrastive-list               POST   -         401    403 403 400 403 400 400  404 401    403
contrastive-detail             GET    -         401    200 403 200 200 200 200  404 200    200
contrastive-detail             DELETE -         401    403 403 204 403 404 404  404 401    403
contrastive-ranks              GET    -         401    200 403 200 200 200 200  404 200    200
pair-detail                    GET    -         401    403 403 403 200 200 200  404 401    403
phase-list                     GET    -         401    403 403 200 403 200 200  404 401    403
phase-list                     POST   -         401    403 403 403 403 400 400  404 401    403
phase-detail                   GET    -         401    403 403 200 403 200 200  404 401    403
phase-detail                   PATCH  closing   401    403 403 403 403 200 200  404 401    403
phase-close                    POST   -         401    403 403 403 403 200 200  404 401    403
submission-embeddings          POST   -         401    403 403 400 403 400 400  404 401    403
submission-list                GET    -         401    403 403 200 403 200 200  404 401    403
submission-list                POST   -         401    403 403 400 403 400 400  404 401    403
submission-detail              GET    -         401    403 403 200 403 200 200  404 401    403
run-withdraw                   POST   -         401    403 403 403 403 200 409  404 401    403
submission-withdraw            POST   -         401    403 403 200 403 409 409  404 401    403
submission-leave-out           POST   lines     401    403 403 409 403 409 409  404 401    403
submission-send-on             POST   -         401    403 403 409 403 409 409  404 401    403
pool-list                      GET    -         401    403 403 403 200 200 200  404 401    403
pool-list                      POST   pool      401    403 403 403 403 202 202  404 401    403
pool-detail                    GET    -         401    403 403 403 200 200 200  404 401    403
pool-detail                    PATCH  state     401    403 403 403 403 200 200  404 401    403
pool-estimates                 GET    -         401    403 403 403 403 200 200  404 401    403
pool-queue                     GET    -         401    403 403 403 403 200 200  404 401    403
pool-queue                     POST   -         401    403 403 403 403 422 422  404 401    403
pool-sparing                   GET    -         401    403 403 403 403 200 200  404 401    403
pool-sparing                   POST   -         401    403 403 403 403 400 400  404 401    403
pool-sparing                   DELETE -         401    403 403 403 403 409 409  404 401    403
pool-people                    GET    -         401    403 403 403 200 200 200  404 401    403
pool-report                    GET    -         401    403 403 403 200 200 200  404 401    403
qrels-list                     GET    -         401    403 403 403 403 200 200  404 401    403
qrels-list                     POST   qrels     401    403 403 403 403 202 202  404 401    403
qrels-detail                   GET    -         401    403 403 403 403 200 200  404 401    403
qrels-detail                   DELETE -         401    403 403 403 403 409 409  404 401    403
qrels-map                      POST   mapped    401    403 403 403 403 201 201  404 401    403
qrels-download                 GET    -         401    403 403 403 403 200 200  404 401    403
contamination-list             GET    -         401    200 200 200 200 200 200  404 200    200
contamination-list             POST   -         401    403 403 403 403 400 400  404 401    403
contamination-salt             GET    -         401    403 403 403 403 200 200  404 401    403
contamination-detail           GET    -         401    200 200 200 200 200 200  404 200    200
contamination-matches          GET    -         401    200 200 200 200 200 200  404 200    200
leak-report                    GET    -         401    200 403 200 200 200 200  404 200    200
leak-report-markdown           GET    -         401    200 403 200 200 200 200  404 200    200
split-detail                   GET    -         401    200 200 200 200 200 200  404 200    200
split-detail                   POST   given     401    403 403 403 403 422 422  404 401    403
split-preview                  POST   given     401    403 403 403 403 422 422  404 401    403
split-hide                     POST   hidden    401    403 403 403 403 200 200  404 401    403
slice-list                     GET    -         401    200 200 200 200 200 200  404 200    200
slice-list                     POST   slice     401    403 403 403 403 201 201  404 401    403
slice-detail                   GET    -         401    200 200 200 200 200 200  404 200    200
slice-detail                   PATCH  renamed   401    403 403 403 403 200 200  404 401    403
slice-detail                   DELETE -         401    403 403 403 403 204 404  404 401    403
slice-members                  GET    -         401    200 200 200 200 200 200  404 200    200
slice-members                  POST   queries   401    403 403 403 403 200 200  404 401    403
slice-decide                   POST   verdict   401    403 403 403 403 200 200  404 401    403
slice-preview                  POST   rule      401    403 403 403 403 200 200  404 401    403
slice-refresh                  POST   -         401    403 403 403 403 200 200  404 401    403
slice-register                 POST   -         401    403 403 403 403 422 422  404 401    403
slice-import                   POST   -         401    403 403 403 403 400 400  404 401    403
contextual-verdicts            GET    -         401    403 200 403 200 200 200  404 401    403
contextual-verdicts            POST   -         401    403 400 403 400 400 400  404 401    403
run-contextual                 GET    -         401    200 403 200 200 200 200  404 200    200
run-contextual                 POST   -         401    403 403 403 403 202 202  404 401    403
contextual-set-list            GET    -         401    200 403 200 200 200 200  404 200    200
contextual-set-list            POST   -         401    403 403 403 403 400 400  404 401    403
contextual-set-detail          GET    -         401    200 403 200 200 200 200  404 200    200
contextual-set-detail          PATCH  asking    401    403 403 403 403 200 200  404 401    403
contextual-set-detail          DELETE -         401    403 403 403 403 204 404  404 401    403
contextual-set-cases           GET    -         401    200 403 200 200 200 200  404 200    200
contextual-set-image           GET    -         401    200 403 200 200 200 200  404 200    200
contextual-set-estimate        GET    -         401    403 403 403 403 200 200  404 401    403
campaign-list                  GET    -         401    403 403 403 403 200 200  404 401    403
campaign-list                  POST   -         401    403 403 403 403 400 400  404 401    403
campaign-detail                GET    -         401    403 403 403 403 200 200  404 401    403
campaign-detail                DELETE -         401    403 403 403 403 204 404  404 401    403
campaign-calibration           GET    -         401    403 403 403 403 200 200  404 401    403
campaign-failed                GET    -         401    403 403 403 403 200 200  404 401    403
campaign-start                 POST   -         401    403 403 403 403 202 409  404 401    403
campaign-pause                 POST   -         401    403 403 403 403 202 202  404 401    403
campaign-cancel                POST   -         401    403 403 403 403 202 409  404 401    403
campaign-publish               POST   -         401    403 403 403 403 201 409  404 401    403
campaign-try                   POST   -         401    403 403 403 403 202 409  404 401    403
contradiction-list             GET    -         401    403 403 403 403 200 200  404 401    403
contradiction-list             POST   -         401    403 403 403 403 400 400  404 401    403
example-list                   GET    -         401    403 403 403 403 200 200  404 401    403
example-list                   POST   -         401    403 403 403 403 400 400  404 401    403
example-detail                 GET    -         401    403 403 403 403 200 200  404 401    403
example-detail                 DELETE -         401    403 403 403 403 204 204  404 401    403
webhook-list                   GET    -         401    403 403 403 403 200 200  404 401    403
webhook-list                   POST   webhook   401    403 403 403 403 201 201  404 401    403
webhook-detail                 GET    -         401    403 403 403 403 200 200  404 401    403
webhook-detail                 PATCH  told-of   401    403 403 403 403 200 200  404 401    403
webhook-secret                 POST   -         401    403 403 403 403 200 200  404 401    403
webhook-test                   POST   -         401    403 403 403 403 202 202  404 401    403
webhook-delivery-list          GET    -         401    403 403 403 403 200 200  404 401    403
webhook-resend                 POST   -         401    403 403 403 403 202 202  404 401    403
webhook-detail                 DELETE -         401    403 403 403 403 204 404  404 401    403
mail-choices                   GET    -         401    200 200 200 200 200 200  200 401    200
mail-choices                   PUT    told-of   401    200 200 200 200 200 200  200 401    200
judge-list                     GET    -         401    403 403 403 403 200 200  404 401    403
judge-list                     POST   -         401    403 403 403 403 400 400  404 401    403
judge-detail                   GET    -         401    403 403 403 403 200 200  404 401    403
judge-detail                   PATCH  faster    401    403 403 403 403 200 200  404 401    403
judge-detail                   DELETE -         401    403 403 403 403 204 404  404 401    403
judge-try                      POST   -         401    403 403 403 403 202 409  404 401    403
contextual-evaluation-list     GET    -         401    200 403 200 200 200 200  404 200    200
contextual-evaluation-list     POST   -         401    403 403 403 403 400 400  404 401    403
contextual-evaluation-detail   GET    -         401    200 403 200 200 200 200  404 200    200
contextual-evaluation-detail   DELETE -         401    403 403 403 403 204 404  404 401    403
contextual-evaluation-cases    GET    -         401    200 403 200 200 200 200  404 200    200
contextual-evaluation-cancel   POST   -         401    403 403 403 403 202 409  404 401    403
contextual-evaluation-retry    POST   -         401    403 403 403 403 202 409  404 401    403
contextual-comparison          GET    -         401    200 403 200 200 200 200  404 200    200
upload-list                    GET    -         401    403 403 403 403 200 200  404 401    403
upload-list                    POST   -         401    403 403 403 403 400 400  404 401    403
upload-detail                  GET    -         401    403 403 403 403 200 200  404 401    403
upload-detail                  DELETE -         401    403 403 403 403 204 404  404 401    403
upload-import                  POST   -         401    403 403 403 403 202 202  404 401    403
benchmark-detail               PATCH  renamed   401    403 403 403 403 200 200  404 401    403
run-list                       GET    -         401    200 403 200 200 200 200  404 200    200
run-detail                     GET    -         401    200 403 200 200 200 200  404 200    200
run-query                      GET    -         401    200 403 200 200 200 200  404 200    200
runs-score                     POST   -         401    403 403 403 403 202 202  404 401    403
reliability                    GET    -         401    200 403 200 200 200 200  404 200    200
query-list                     GET    -         401    200 200 200 200 200 200  404 200    200
query-detail                   GET    -         401    200 200 200 200 200 200  404 200    200
query-draw-queries             GET    -         401    403 403 403 403 200 200  404 401    403
query-search                   GET    -         401    403 403 403 409 409 409  404 401    403
query-search                   POST   found     401    403 403 403 201 201 201  404 401    403
words-index                    POST   -         401    403 403 403 202 202 202  404 401    403
document-detail                GET    -         401    200 200 200 200 200 200  404 200    200
search                         GET    -         401    200 200 200 200 200 200  404 200    200
site-search                    GET    -         401    200 200 200 200 200 200  200 401    200
corpus-list                    GET    -         401    200 200 200 200 200 200  200 401    200
job-list                       GET    -         401    403 403 403 403 200 200  404 401    403
job-events                     GET    -         401    404 404 404 404 200 200  404 401    404
member-detail                  DELETE -         401    403 403 403 403 403 204  404 401    403
invitation-list                GET    -         401    403 403 403 403 403 200  404 401    403
invitation-list                POST   invite    401    403 403 403 403 403 201  404 401    403
invitation-detail              GET    -         401    403 403 403 403 403 200  404 401    403
invitation-detail              DELETE -         401    403 403 403 403 403 204  404 401    403
invitation-accept              POST   link      401    404 404 404 404 404 404  404 401    404
team-list                      GET    -         401    200 200 200 200 200 200  200 401    200
team-list                      POST   team      401    201 409 409 409 409 409  409 401    409
team-detail                    GET    -         401    404 404 404 404 404 200  404 401    404
team-detail                    DELETE -         401    404 404 404 404 404 204  404 401    404
team-members                   POST   mate      401    404 404 404 404 404 201  404 401    404
team-link                      POST   -         401    404 404 404 404 404 201  404 401    404
team-join                      POST   link      401    410 410 410 410 410 410  410 401    410
contamination-detail           DELETE -         401    403 403 403 403 204 404  404 401    403
contamination-clean            GET    -         401    200 200 200 200 200 200  404 200    200
contamination-clean            POST   -         401    403 403 403 403 201 409  404 401    403
split-queries                  GET    -         401    200 200 200 200 200 200  404 200    200
agreement-detail               POST   -         401    403 403 403 202 202 202  404 401    403
case-list                      GET    -         401    403 403 403 200 200 200  404 401    403
# Mia has judged the document herself.
case-list                      POST   settle    401    403 403 403 201 403 201  404 401    403
case-detail                    GET    -         401    403 403 403 200 403 200  404 401    403
policy-detail                  GET    -         401    403 403 403 403 200 200  404 401    403
policy-detail                  PUT    rule-of   401    403 403 403 403 200 200  404 401    403
slice-coverage                 GET    -         401    403 403 403 200 200 200  404 401    403
guideline-detail               GET    -         401    200 200 200 200 200 200  404 200    200
guideline-detail               POST   guide     401    403 403 403 403 201 201  404 401    403
question-list                  GET    -         401    403 403 403 403 200 200  404 401    403
question-answer                POST   answer    401    403 403 403 403 200 409  404 401    403
pools-to-judge                 GET    -         401    200 200 200 200 200 200  200 401    200
pool-start                     GET    -         401    403 200 403 200 200 200  404 401    403
pool-start                     POST   version   401    403 200 403 200 200 200  404 401    403
pool-exchange                  POST   want      401    403 200 403 200 200 200  404 401    403
pool-stop                      POST   -         401    403 200 403 200 200 200  404 401    403
own-judgments                  GET    -         401    200 200 200 200 200 200  200 401    200
own-judgment                   GET    -         401    404 200 404 404 404 404  404 401    404
own-judgment                   PATCH  regrade   401    404 200 404 404 404 404  404 401    404
own-hours                      GET    -         401    200 200 200 200 200 200  200 401    200
own-questions                  GET    -         401    200 200 200 200 200 200  200 401    200
pool-simulations               POST   -         401    403 403 403 403 400 400  404 401    403
pool-release                   POST   holder    401    403 403 403 403 200 200  404 401    403
pool-waive                     POST   -         401    403 403 403 403 200 200  404 401    403
stale-list                     GET    -         401    403 403 403 403 200 200  404 401    403
stale-list                     POST   -         401    403 403 403 403 200 200  404 401    403
known-grade-list               GET    -         401    403 403 403 403 200 200  404 401    403
known-grade-list               POST   known     401    403 403 403 403 201 201  404 401    403
known-grade-settled            GET    -         401    403 403 403 403 200 200  404 401    403
known-grade-detail             GET    -         401    403 403 403 403 200 200  404 401    403
known-grade-detail             DELETE -         401    403 403 403 403 204 404  404 401    403
"""
BODIES = {
    "asking": {"asks_people": False},
    "found": {"document": "d-tab", "grade": 1, "client_id": str(uuid4())},
    "invite": {"role": "viewer"},
    "link": {"link": "https://bench.example.org/join/nothing/"},
    "team": {"name": "the eager"},
    "mate": {"username": "ada"},
    "settle": {"query": "1", "document": "d-quote", "client_id": str(uuid4()), "grade": 0},
    "rule-of": {"rule": "majority"},
    "guide": {"text": "Be fair."},
    "answer": {"answer": "Yes."},
    "version": {"version": 1},
    "want": {"want": 1},
    "regrade": {"client_id": str(uuid4()), "grade": 1},
    "holder": {"annotator": "ada"},
    "known": {"grades": [{"query": "1", "document": "d-quote", "grade": 1}]},
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
        "labels": [{"query": "1", "document": "d-quote", "grade": 1, "annotator": "W1"}],
    },
    "pool": {"name": "next", "runs": ["stdlib-first"]},
    "new": {"name": "another benchmark"},
    "state": {"state": "paused"},
    "qrels": {"name": "ours"},
    "mapped": {"grade_map": "1=2"},
    "corpus": {"lang": "de"},
    "grades": {"qrels": 10**9},
    "fetch": {"collection": "beir:scifact"},
    "take": {"decision": "take"},
    "draft": {"qrels": "tiny", "notes": "more"},
    "reason": {"reason": "wrong grades"},
    "other": {"other": 10**9},
    "said": {"query_a": "1", "query_b": "1", "verdict": "same"},
    "list": {"rows": [{"query": "1", "document": "d-tab"}]},
    "top-up": {"runs": ["stdlib-second"]},
    "sample": {"n_families": 5},
    "closing": {"closes_at": "2099-01-01T00:00:00Z"},
    "slice": {"rule": {"kind": "length", "to": 9}},
    "renamed": {"description": "what is short"},
    "queries": {"queries": ["1"]},
    "verdict": {"verdict": "confirm", "queries": ["1"]},
    "gate": {"policy": "nightly", "candidate": "stdlib-second"},
    "online": {"outcome": "better", "metric": "clicks", "has_no_interval": True},
    "rehearsal": {"name": "next", "baseline": "stdlib-first", "runs": ["stdlib-second"]},
    "policy": {"name": "next", "baseline": "stdlib-first"},
    "pair": {"runs": ["stdlib-first", "nobody"]},
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
        (name, how, body, [int(n) for n in words] * (len(PEOPLE) + 2 if len(words) == 1 else 1))
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


# What an address is asked for with.
ASKED = {
    "ann": {"exact": "stdlib-first", "approximate": "stdlib-second"},
    "case-detail": {"query": "1", "document": "d-quote"},
    "pair-detail": {"query": "1", "document": "d-quote"},
    "planner": {"delta": 0.05},
    "search": {"q": "bread"},
    "site-search": {"q": "a"},
    "top-up-list": {"runs": "stdlib-first,stdlib-second"},
}
ENDPOINTS = {a.name.removeprefix("api:"): a for a in addresses() if a.name.startswith("api:")}


@pytest.fixture(scope="module")
def urls(world) -> dict[str, str]:
    """The address of each endpoint."""
    evaluation = world.arguments["api:contextual-evaluation-detail"]
    asked = {**ASKED, "contextual-comparison": dict.fromkeys(("before", "after"), evaluation)}
    return {
        name: reverse(
            address.name, kwargs=address.arguments(world.arguments), query=asked.get(name)
        )
        for name, address in ENDPOINTS.items()
    }


@pytest.fixture
def cast(world, in_the_world) -> dict[str, User]:
    mia = User.objects.get(username="mia")
    disputed = {"query": world.benchmark.queries.get(qid="1"), "docid": "d-quote"}
    word = {"kind": "cant_judge", "reason": "language", "actor": mia, "client_id": uuid4()}
    Judgment.events.create(benchmark=world.benchmark, **disputed, **word)
    return {person.username: person for person in User.objects.all()}


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
    response.body = b"".join(response) if response.streaming else response.content
    if response.has_header("ETag"):
        assert response["Cache-Control"] == "private, no-cache"
    else:
        assert {"private", "no-store"} <= set(response["Cache-Control"].split(", "))
    if response.status_code == 200:
        assert_browser_is_told(response)
    return response.status_code, response.body


def test_table_has_every_endpoint():
    assert set(ENDPOINTS) == {name for name, *_ in ROWS}


@pytest.mark.parametrize("who", ["nobody", "olga"])
def test_way_of_asking_that_is_not_in_the_table_is_none(urls, cast, settings, who):
    settings.API_REQUESTS_PER_MINUTE = 10_000
    asked = {row[:2] for row in ROWS}
    others = [
        (name, how)
        for name in urls
        for how in ("GET", "POST", "PUT", "PATCH", "DELETE")
        if (name, how) not in asked
    ]

    answers = {row: ask(by_session(cast.get(who)), row[1], urls[row[0]], "-") for row in others}

    assert {row: status for row, (status, _) in answers.items() if status != 405} == {}


def test_what_is_no_json_is_refused(urls, cast):
    client, refused = by_session(cast["olga"]), {}
    for name, how, body, words in ROWS:
        takes_something = how != "GET" and (body != "-" or words[6] == 400)
        if takes_something and name != "own-judgment":  # Ada's
            answer = client.generic(how, urls[name], "posted=1", content_type=FORM)
            refused[name, how] = answer.status_code

    assert {row: status for row, status in refused.items() if status != 415} == {}


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
    Benchmark.objects.filter(slug="stdlib").update(visibility="public")
    public = [ask(way(cast.get(who)), how, urls[name], body) for who in ("nobody", "cy")]

    assert [status for status, _ in answers + public] == words
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
    states = list(Pool.objects.values_list("state"))

    status, content = ask(client, how, urls[name], body)

    assert (status, json.loads(content)["code"]) == (403, "csrf")
    assert list(Pool.objects.values_list("state")) == states


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
