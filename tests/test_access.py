"""Who gets what: every page and endpoint, every role, each way of asking."""

import re

import pytest
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from benchmarks_app.models import Benchmark
from tests.world import Address, World, addresses

FORM = "application/x-www-form-urlencoded"
PEOPLE = ("anonymous", "vi", "ada", "sam", "bo", "mia", "olga", "cy")
# What each gets: a status, or `login` for the way to the sign-in page; one word is everybody's.
# A post carries nothing of use: 422 is a form that may be sent, with what it lacks. The two last
# columns are anonymous and cy, who belongs to another benchmark, on a public benchmark. An address
# that is asked in another way than here answers 405.
TABLE = """
# name                          how  anon. vi    ada   sam   bo    mia   olga  cy    anon. cy
address-link                    GET  login 405   405   405   405   405   405   405   login 405
address-link                    POST login 302   302   302   302   302   302   302   login 302
address-verify                  GET  login 410   410   410   410   410   410   410   login 410
address-verify                  POST login 405   405   405   405   405   405   405   login 405
account-delete                  GET  login 200   200   200   200   200   200   200   login 200
account-delete                  POST login 422   422   422   422   422   422   422   login 422
account-export                  GET  login 405   405   405   405   405   405   405   login 405
account-export                  POST login 200   200   200   200   200   200   200   login 200
activity-export                 GET  login 403   403   403   403   200   200   404   login 403
audit-export                    GET  login 403   403   403   403   403   403   403   login 403
audit-log                       GET  login 403   403   403   403   403   403   403   login 403
click-qrels-new                 GET  login 403   403   403   403   200   200   404   login 403
click-qrels-new                 POST login 403   403   403   403   422   422   404   login 403
person-delete                   GET  login 403   403   403   403   403   403   403   login 403
person-delete                   POST login 403   403   403   403   403   403   403   login 403
person-export                   GET  405
person-export                   POST login 403   403   403   403   403   403   403   login 403
person-list                     GET  login 403   403   403   403   403   403   403   login 403
account-detail                  GET  login 200   200   200   200   200   200   200   login 200
account-detail                  POST login 422   422   422   422   422   422   422   login 422
activity-list                   GET  login 403   403   403   403   200   200   404   login 403
annotation:adjudicate           GET  login 403   403   403   200   200   200   404   login 403
annotation:adjudicate-item      GET  login 403   403   403   200   200   200   404   login 403
annotation:adjudicate-item      POST login 403   403   403   422   422   422   404   login 403
annotation:agreement            GET  login 403   403   403   200   200   200   404   login 403
annotation:agreement-compute    GET  405
annotation:agreement-compute    POST login 403   403   403   302   302   302   404   login 403
annotation:cant-judge-create    GET  login 405   405   405   405   405   405   405   login 405
annotation:cant-judge-create    POST login 403   422   403   422   422   422   404   login 403
annotation:found-grade          GET  405
annotation:found-grade          POST login 403   403   403   422   422   422   404   login 403
annotation:guideline-detail     GET  login 200   200   200   200   200   200   404   200   200
annotation:guideline-edit       GET  login 403   403   403   403   200   200   404   login 403
annotation:guideline-edit       POST login 403   403   403   403   422   422   404   login 403
annotation:judge                GET  login 403   200   403   200   200   200   404   login 403
annotation:judge                POST login 405   405   405   405   405   405   405   login 405
annotation:judge-ask            GET  login 405   405   405   405   405   405   405   login 405
annotation:judge-ask            POST login 403   422   403   422   422   422   404   login 403
annotation:judge-benchmark      GET  login 403   302   403   302   302   302   404   login 403
annotation:judge-exchange       GET  405
annotation:judge-exchange       POST 401   403   422   403   422   422   422   404   401   403
annotation:judge-keys           GET  login 200   200   200   200   200   200   200   login 200
annotation:judge-keys           POST login 422   422   422   422   422   422   422   login 422
annotation:judge-later          GET  login 405   405   405   405   405   405   405   login 405
annotation:judge-later          POST login 403   422   403   422   422   422   404   login 403
annotation:judge-session        GET  200
annotation:judgment-create      GET  login 405   405   405   405   405   405   405   login 405
annotation:judgment-create      POST login 403   422   403   422   422   422   404   login 403
annotation:judgment-list        GET  login 403   403   403   403   200   200   404   login 403
annotation:judgment-undo        GET  login 405   405   405   405   405   405   405   login 405
annotation:judgment-undo        POST login 403   422   403   422   422   422   404   login 403
annotation:judgments-export     GET  login 403   403   403   403   200   200   404   login 403
annotation:judgments-import     GET  login 403   403   403   403   200   200   404   login 403
annotation:judgments-import     POST login 403   403   403   403   422   422   404   login 403
annotation:known-grade-import   GET  405
annotation:known-grade-import   POST login 403   403   403   403   302   302   404   login 403
annotation:known-grade-list     GET  login 403   403   403   403   200   200   404   login 403
annotation:known-grade-list     POST login 403   403   403   403   422   422   404   login 403
annotation:known-grade-remove   GET  405
annotation:known-grade-remove   POST login 403   403   403   403   302   302   404   login 403
annotation:known-grade-settled  GET  login 403   403   403   403   200   200   404   login 403
annotation:known-grade-settled  POST login 403   403   403   403   422   422   404   login 403
annotation:known-grade-share    GET  405
annotation:known-grade-share    POST login 403   403   403   403   302   302   404   login 403
annotation:my-hours             GET  login 200   200   200   200   200   200   200   login 200
annotation:my-hours             POST login 405   405   405   405   405   405   405   login 405
annotation:my-hours-csv         GET  login 200   200   200   200   200   200   200   login 200
annotation:my-hours-csv         POST login 405   405   405   405   405   405   405   login 405
annotation:my-judgment-detail   GET  login 404   200   404   404   404   404   404   login 404
annotation:my-judgment-detail   POST login 404   422   404   404   404   404   404   login 404
annotation:my-judgment-list     GET  login 200   200   200   200   200   200   200   login 200
annotation:my-judgment-list     POST login 405   405   405   405   405   405   405   login 405
annotation:my-question-list     GET  login 200   200   200   200   200   200   200   login 200
annotation:my-question-list     POST login 405   405   405   405   405   405   405   login 405
annotation:pair-detail          GET  login 403   403   403   200   200   200   404   login 403
annotation:policy-edit          GET  login 403   403   403   403   200   200   404   login 403
annotation:policy-edit          POST login 403   403   403   403   422   422   404   login 403
annotation:pool-chart           GET  login 403   403   403   200   200   200   404   login 403
annotation:pool-charts          GET  login 403   403   403   200   200   200   404   login 403
annotation:pool-detail          GET  login 403   403   403   200   200   200   404   login 403
annotation:pool-estimates       GET  login 403   403   403   403   200   200   404   login 403
annotation:pool-sparing         GET  login 403   403   403   403   200   200   404   login 403
annotation:pool-sparing         POST login 403   403   403   403   422   422   404   login 403
annotation:pool-queue           GET  login 403   403   403   403   200   200   404   login 403
annotation:pool-queue           POST login 403   403   403   403   422   422   404   login 403
annotation:pool-sparing-stop    GET  405
annotation:pool-sparing-stop    POST login 403   403   403   403   302   302   404   login 403
annotation:pool-list            GET  login 403   403   403   200   200   200   404   login 403
annotation:pool-new             GET  login 403   403   403   403   200   200   404   login 403
annotation:pool-new             POST login 403   403   403   403   422   422   404   login 403
annotation:pool-people          GET  login 403   403   403   403   200   200   404   login 403
annotation:pool-progress        GET  login 403   403   403   200   200   200   404   login 403
annotation:pool-release         GET  405
annotation:pool-release         POST login 403   403   403   403   302   302   404   login 403
annotation:pool-settings        GET  405
annotation:pool-settings        POST login 403   403   403   403   422   422   404   login 403
annotation:pool-simulate        GET  login 403   403   403   403   200   200   404   login 403
annotation:pool-simulate        POST login 403   403   403   403   422   422   404   login 403
annotation:pool-simulation-chart GET login 403   403   403   403   200   200   404   login 403
annotation:pool-state           GET  405
annotation:pool-state           POST login 403   403   403   403   302   302   404   login 403
annotation:pool-summary         GET  login 403   403   403   200   200   200   404   login 403
annotation:pool-top-up          GET  login 403   403   403   403   200   200   404   login 403
annotation:pool-top-up          POST login 403   403   403   403   422   422   404   login 403
annotation:pool-waive           GET  405
annotation:pool-waive           POST login 403   403   403   403   302   302   404   login 403
annotation:practice             GET  login 403   200   403   200   200   200   404   login 403
annotation:practice             POST login 403   302   403   302   302   302   404   login 403
annotation:qrels-publish        GET  login 403   403   403   403   200   200   404   login 403
annotation:qrels-publish        POST login 403   403   403   403   422   422   404   login 403
annotation:question-answer      GET  login 403   403   403   403   200   200   404   login 403
annotation:question-answer      POST login 403   403   403   403   422   422   404   login 403
annotation:question-list        GET  login 403   403   403   403   200   200   404   login 403
annotation:query-search         GET  login 403   403   403   200   200   200   404   login 403
annotation:queue                GET  login 200   200   200   200   200   200   200   login 200
annotation:queue                POST login 405   405   405   405   405   405   405   login 405
annotation:slice-coverage       GET  login 403   403   403   200   200   200   404   login 403
annotation:stale-list           GET  login 403   403   403   403   200   200   404   login 403
annotation:stale-offer          GET  405
annotation:stale-offer          POST login 403   403   403   403   302   302   404   login 403
annotation:start                GET  login 403   200   403   200   200   200   404   login 403
annotation:start                POST login 403   422   403   422   422   422   404   login 403
annotation:stop                 GET  login 405   405   405   405   405   405   405   login 405
annotation:stop                 POST login 403   302   403   302   302   302   404   login 403
annotation:words-index          GET  405
annotation:words-index          POST login 403   403   403   302   302   302   404   login 403
api-docs                        GET  200
api-schema                      GET  200
api-token-create                GET  login 405   405   405   405   405   405   405   login 405
api-token-create                POST login 422   422   422   422   422   422   422   login 422
api-token-revoke                GET  login 405   405   405   405   405   405   405   login 405
api-token-revoke                POST login 404   404   404   404   404   302   404   login 404
benchmark-detail                GET  login 200   200   200   200   200   200   404   200   200
benchmark-new                   GET  login 200   200   200   200   200   200   200   login 200
benchmark-new                   POST login 422   422   422   422   422   422   422   login 422
benchmark-settings              GET  login 403   403   403   403   200   200   404   login 403
benchmark-settings              POST login 403   403   403   403   422   422   404   login 403
chart-bundle                    GET  200
contamination-clean             GET  login 200   200   200   200   200   200   404   200   200
contamination-delete            GET  405
contamination-delete            POST login 403   403   403   403   302   302   404   login 403
contamination-detail            GET  login 200   200   200   200   200   200   404   200   200
contamination-list              GET  login 200   200   200   200   200   200   404   200   200
contamination-new               GET  login 403   403   403   403   200   200   404   login 403
contamination-new               POST login 403   403   403   403   422   422   404   login 403
contamination-slice             GET  405
contamination-slice             POST login 403   403   403   403   302   302   404   login 403
corpus-detail                   GET  login 200   200   200   200   200   200   404   200   200
corpus-detail                   POST login 403   403   403   403   422   422   404   403   403
corpus-list                     GET  login 200   200   200   200   200   200   200   login 200
corpus-version                  GET  login 403   403   403   403   200   200   404   login 403
document-detail                 GET  login 200   200   200   200   200   200   404   200   200
document-image                  GET  login 200   200   200   200   200   200   404   200   200
document-thumbnail              GET  login 200   200   200   200   200   200   404   200   200
document-grades-new             GET  login 403   403   403   403   200   200   404   login 403
document-grades-new             POST login 403   403   403   403   422   422   404   login 403
family-confirm-several          GET  405
family-confirm-several          POST login 403   403   403   403   302   302   404   login 403
family-decide                   GET  405
family-decide                   POST login 403   403   403   403   422   422   404   login 403
factor-list                     GET  login 200   200   200   200   200   200   200   login 200
factor-list                     POST login 405   405   405   405   405   405   405   login 405
factor-remove                   GET  login 404   404   404   404   404   404   404   login 404
factor-remove                   POST login 404   404   404   404   404   404   404   login 404
family-detail                   GET  login 200   200   200   200   200   200   404   200   200
family-group                    GET  login 403   403   403   403   200   200   404   login 403
family-group                    POST login 403   403   403   403   422   422   404   login 403
family-list                     GET  login 200   200   200   200   200   200   404   200   200
family-review                   GET  login 403   403   403   403   200   200   404   login 403
family-undo                     GET  405
family-undo                     POST login 403   403   403   403   409   409   404   login 403
fetch-new                       GET  login 403   403   403   403   200   200   404   login 403
fetch-new                       POST login 403   403   403   403   422   422   404   login 403
healthz                         GET  200
docs                            GET  200
docs-file                       GET  404
docs-page                       GET  200
home                            GET  200
import-all                      GET  405
import-all                      POST login 403   403   403   403   302   302   404   login 403
import-decide                   GET  405
import-decide                   POST login 403   403   403   403   302   302   404   login 403
import-new                      GET  login 403   403   403   403   200   200   404   login 403
import-new                      POST login 403   403   403   403   422   422   404   login 403
import-preview                  GET  login 403   403   403   403   200   200   404   login 403
import-preview                  POST login 403   403   403   403   200   200   404   login 403
import-remove                   GET  405
import-remove                   POST login 403   403   403   403   302   302   404   login 403
invitation-accept               GET  200
invitation-accept               POST 422   302   302   302   302   302   302   302   422   302
invitation-create               GET  405
invitation-create               POST login 403   403   403   403   403   422   404   login 403
invitation-revoke               GET  405
invitation-revoke               POST login 403   403   403   403   403   302   404   login 403
job-detail                      GET  login 404   404   404   404   200   200   404   login 404
job-detail                      POST login 405   405   405   405   405   405   405   login 405
job-list                        GET  login 403   403   403   403   200   200   404   login 403
job-progress                    GET  login 404   404   404   404   200   200   404   login 404
job-progress                    POST login 405   405   405   405   405   405   405   login 405
job-cancel                      GET  login 405   405   405   405   405   405   405   login 405
job-cancel                      POST login 404   404   404   404   302   302   404   login 404
job-retry                       GET  login 405   405   405   405   405   405   405   login 405
job-retry                       POST login 404   404   404   404   302   302   404   login 404
leak-differ                     GET  405
leak-differ                     POST login 403   403   403   403   404   404   404   login 403
leak-report-compute             GET  405
leak-report-compute             POST login 403   403   403   403   302   302   404   login 403
leak-report-detail              GET  login 200   403   200   200   200   200   404   200   200
leak-report-file                GET  login 200   403   200   200   200   200   404   200   200
log-columns                     GET  login 403   403   403   403   200   200   404   login 403
log-columns                     POST login 403   403   403   403   422   422   404   login 403
log-curve                       GET  login 403   403   403   403   200   200   404   login 403
log-detail                      GET  login 403   403   403   403   200   200   404   login 403
log-discard                     GET  405
log-discard                     POST login 403   403   403   403   302   302   404   login 403
log-list                        GET  login 403   403   403   403   200   200   404   login 403
log-list                        POST login 403   403   403   403   422   422   404   login 403
member-blindness                GET  405
member-blindness                POST login 403   403   403   403   403   302   404   login 403
member-remove                   GET  405
member-remove                   POST login 403   403   403   403   403   302   404   login 403
member-role                     GET  405
member-role                     POST login 403   403   403   403   403   302   404   login 403
metrics                         GET  404
password-change                 GET  login 200   200   200   200   200   200   200   login 200
password-change                 POST login 200   200   200   200   200   200   200   login 200
password-reset                  GET  200
password-reset                  POST 200
password-reset-confirm          GET  200
password-reset-confirm          POST 200
password-reset-sent             GET  200
people-list                     GET  login 403   403   403   403   403   200   404   login 403
qrels-delete                    GET  405
qrels-delete                    POST login 403   403   403   403   302   302   404   login 403
qrels-download                  GET  login 403   403   403   403   200   200   404   login 403
qrels-list                      GET  login 403   403   403   403   200   200   404   login 403
qrels-map                       GET  login 403   403   403   403   200   200   404   login 403
qrels-map                       POST login 403   403   403   403   422   422   404   login 403
query-detail                    GET  login 200   200   200   200   200   200   404   200   200
query-list                      GET  login 200   200   200   200   200   200   404   200   200
search                          GET  login 200   200   200   200   200   200   404   200   200
readyz                          GET  200
recovery-codes-create           GET  login 404   404   404   404   404   404   404   login 404
recovery-codes-create           POST login 404   404   404   404   404   404   404   login 404
release-card                    GET  login 200   403   200   200   200   200   404   200   200
release-deprecate               GET  login 403   403   403   403   200   200   404   login 403
release-deprecate               POST login 403   403   403   403   422   422   404   login 403
release-detail                  GET  login 200   403   200   200   200   200   404   200   200
release-draft                   GET  login 403   403   403   403   200   200   404   login 403
release-draft                   POST login 403   403   403   403   422   422   404   login 403
release-draft-check             GET  405
release-draft-check             POST login 403   403   403   403   302   302   404   login 403
release-draft-delete            GET  405
release-draft-delete            POST login 403   403   403   403   302   302   404   login 403
release-draft-edit              GET  login 403   403   403   403   200   200   404   login 403
release-draft-edit              POST login 403   403   403   403   422   422   404   login 403
release-export                  GET  login 200   403   200   200   200   200   404   200   200
release-export-format           GET  login 200   403   200   200   200   200   404   200   200
release-export-start            GET  405
release-export-start            POST login 403   403   403   403   302   302   404   login 403
release-exports                 GET  login 200   403   200   200   200   200   404   200   200
release-file                    GET  login 200   403   200   200   200   200   404   200   200
release-files                   GET  login 200   403   200   200   200   200   404   200   200
release-list                    GET  login 200   403   200   200   200   200   404   200   200
release-new                     GET  login 403   403   403   403   200   200   404   login 403
release-new                     POST login 403   403   403   403   422   422   404   login 403
run-detail                      GET  login 200   403   200   200   200   200   404   200   200
run-export                      GET  login 200   403   200   200   200   200   404   200   200
run-list                        GET  login 200   403   200   200   200   200   404   200   200
sample-new                      GET  login 403   403   403   403   200   200   404   login 403
sample-new                      POST login 403   403   403   403   422   422   404   login 403
sample-preview                  GET  login 403   403   403   403   200   200   404   login 403
scoring:baseline-list           GET  login 200   403   200   200   200   200   404   200   200
scoring:baseline-list           POST login 403   403   403   403   422   422   404   403   403
scoring:baseline-progress       GET  login 302   403   302   302   302   302   404   302   302
scoring:baselines-create        GET  405
scoring:baselines-create        POST login 403   403   403   403   302   302   404   login 403
scoring:board-top               GET  login 200   403   200   200   200   200   404   200   200
scoring:comparison              GET  login 200   403   200   200   200   200   404   200   200
scoring:comparison-chart        GET  login 404   403   404   404   404   404   404   404   404
scoring:comparison-queries      GET  login 404   403   404   404   404   404   404   404   404
scoring:comparison-robustness   GET  login 302   403   302   302   302   302   404   302   302
scoring:comparison-start        GET  405
scoring:comparison-start        POST login 302   403   302   302   302   302   404   302   302
scoring:comparison-summary      GET  login 404   403   404   404   404   404   404   404   404
scoring:gate-chart              GET  login 200   403   200   200   200   200   404   200   200
scoring:gate-detail             GET  login 200   403   200   200   200   200   404   200   200
scoring:gate-list               GET  login 200   403   200   200   200   200   404   200   200
scoring:gate-online             GET  405
scoring:gate-online             POST login 403   403   422   403   422   422   404   login 403
scoring:gate-online-log         GET  login 403   403   200   403   200   200   404   login 403
scoring:gate-online-log         POST login 403   403   422   403   422   422   404   login 403
scoring:gate-report             GET  login 200   403   200   200   200   200   404   200   200
scoring:gate-state              GET  login 200   403   200   200   200   200   404   200   200
scoring:policy-detail           GET  login 200   403   200   200   200   200   404   200   200
scoring:policy-detail           POST login 403   403   422   403   422   422   404   403   403
scoring:policy-new              GET  login 403   403   200   403   200   200   404   login 403
scoring:policy-new              POST login 403   403   422   403   422   422   404   login 403
scoring:policy-retire           GET  405
scoring:policy-retire           POST login 403   403   403   403   302   302   404   login 403
scoring:rehearsal-detail        GET  login 403   403   404   403   200   200   404   login 403
scoring:rehearsal-detail        POST login 403   403   404   403   422   422   404   login 403
scoring:rehearsal-state         GET  login 403   403   404   403   200   200   404   login 403
scoring:side-by-side            GET  login 302   403   302   302   302   302   404   302   302
scoring:leaderboard             GET  login 200   403   200   200   200   200   404   200   200
scoring:board-embed             GET  404   404   404   404   404   404   404   404   200   200
scoring:board-badge             GET  404   404   404   404   404   404   404   404   200   200
scoring:board-badge-json        GET  404   404   404   404   404   404   404   404   200   200
scoring:leaderboard-csv         GET  login 200   403   200   200   200   200   404   200   200
scoring:leaderboard-compare     GET  login 404   403   404   404   404   404   404   404   404
scoring:leaderboard-history     GET  login 200   403   200   200   200   200   404   200   200
scoring:leaderboard-history-chart GET login 200  403   200   200   200   200   404   200   200
scoring:leaderboard-json        GET  login 200   403   200   200   200   200   404   200   200
scoring:leaderboard-markdown    GET  login 200   403   200   200   200   200   404   200   200
scoring:leaderboard-corrected   GET  login 200   403   200   200   200   200   404   200   200
scoring:comparison-corrected    GET  login 302   403   302   302   302   302   404   302   302
query-draw-list                 GET  login 403   403   403   403   200   200   404   login 403
query-draw-list                 POST login 403   403   403   403   422   422   404   login 403
query-draw-queries              GET  login 403   403   403   403   200   200   404   login 403
scoring:leaderboard-slices      GET  login 200   403   200   200   200   200   404   200   200
scoring:leaderboard-slices-csv  GET  login 200   403   200   200   200   200   404   200   200
scoring:reported-delete         GET  405
scoring:reported-delete         POST login 403   403   403   403   302   302   404   login 403
scoring:reported-edit           GET  login 403   403   403   403   200   200   404   login 403
scoring:reported-edit           POST login 403   403   403   403   422   422   404   login 403
scoring:reported-list           GET  login 200   403   200   200   200   200   404   200   200
scoring:reported-new            GET  login 403   403   200   403   200   200   404   login 403
scoring:reported-new            POST login 403   403   422   403   422   422   404   login 403
scoring:leaderboard-release     GET  login 200   403   200   200   200   200   404   200   200
scoring:ann                     GET  login 200   403   200   200   200   200   404   200   200
scoring:ann-chart               GET  login 200   403   200   200   200   200   404   200   200
scoring:contrastive-list        GET  login 200   403   200   200   200   200   404   200   200
scoring:contrastive-new         GET  login 403   403   200   403   200   200   404   login 403
scoring:contrastive-new         POST login 403   403   422   403   422   422   404   login 403
scoring:contrastive-detail      GET  login 200   403   200   200   200   200   404   200   200
scoring:contrastive-state       GET  login 200   403   200   200   200   200   404   200   200
scoring:contrastive-ranks-csv   GET  login 200   403   200   200   200   200   404   200   200
scoring:contrastive-chart       GET  login 200   403   200   200   200   200   404   200   200
scoring:contrastive-delete      GET  405
scoring:contrastive-delete      POST login 403   403   302   403   302   302   404   login 403
scoring:contextual-list         GET  login 200   403   200   200   200   200   404   200   200
scoring:contextual-set          GET  login 200   403   200   200   200   200   404   200   200
scoring:contextual-image        GET  login 200   403   200   200   200   200   404   200   200
scoring:contextual-evaluation   GET  login 200   403   200   200   200   200   404   200   200
scoring:contextual-progress     GET  login 200   403   200   200   200   200   404   200   200
scoring:contextual-chart        GET  login 200   403   200   200   200   200   404   200   200
scoring:contextual-export       GET  login 200   403   200   200   200   200   404   200   200
scoring:contextual-case         GET  login 200   403   200   200   200   200   404   200   200
scoring:contextual-compare      GET  login 200   403   200   200   200   200   404   200   200
annotation:campaign-list     GET  login 403   403   403   403   200   200   404   login 403
annotation:campaign-new      GET  login 403   403   403   403   200   200   404   login 403
annotation:campaign-new      POST login 403   403   403   403   422   422   404   login 403
annotation:campaign-estimate GET  login 403   403   403   403   200   200   404   login 403
annotation:campaign-detail   GET  login 403   403   403   403   200   200   404   login 403
annotation:campaign-calibration GET  login 403   403   403   403   200   200   404   login 403
annotation:campaign-progress GET  login 403   403   403   403   200   200   404   login 403
annotation:campaign-start    GET  405
annotation:campaign-start    POST login 403   403   403   403   302   302   404   login 403
annotation:campaign-pause    GET  405
annotation:campaign-pause    POST login 403   403   403   403   302   302   404   login 403
annotation:campaign-cancel   GET  405
annotation:campaign-cancel   POST login 403   403   403   403   302   302   404   login 403
annotation:campaign-try      GET  405
annotation:campaign-try      POST login 403   403   403   403   302   302   404   login 403
annotation:campaign-publish  GET  405
annotation:campaign-publish  POST login 403   403   403   403   302   302   404   login 403
annotation:campaign-delete   GET  405
annotation:campaign-delete   POST login 403   403   403   403   302   302   404   login 403
annotation:contradiction-list   GET  login 403   403   403   403   200   200   404   login 403
annotation:contradiction-settle GET  405
annotation:contradiction-settle POST login 403   403   403   403   302   302   404   login 403
annotation:example-new          GET  login 403   403   403   403   200   200   404   login 403
annotation:example-new          POST login 403   403   403   403   422   422   404   login 403
annotation:example-list         GET  login 403   403   403   403   200   200   404   login 403
annotation:example-withdraw     GET  405
annotation:example-withdraw     POST login 403   403   403   403   302   302   404   login 403
webhook-list                    GET  login 403   403   403   403   200   200   404   login 403
webhook-list                    POST login 403   403   403   403   422   422   404   login 403
webhook-detail                  GET  login 403   403   403   403   200   200   404   login 403
webhook-detail                  POST login 403   403   403   403   422   422   404   login 403
webhook-secret                  GET  405
webhook-secret                  POST login 403   403   403   403   200   200   404   login 403
webhook-test                    GET  405
webhook-test                    POST login 403   403   403   403   302   302   404   login 403
webhook-delete                  GET  405
webhook-delete                  POST login 403   403   403   403   302   302   404   login 403
webhook-resend                  GET  405
webhook-resend                  POST login 403   403   403   403   302   302   404   login 403
mail-choices                    GET  login 405   405   405   405   405   405   405   login 405
mail-choices                    POST login 302   302   302   302   302   302   302   login 302
mail-stop                       GET  200
mail-stop                       POST 200
judge-list   GET  login 403   403   403   403   200   200   404   login 403
judge-detail GET  login 403   403   403   403   200   200   404   login 403
judge-trial  GET  login 403   403   403   403   200   200   404   login 403
scoring:contextual-estimate     GET  login 403   403   403   403   200   200   404   login 403
scoring:contextual-verdicts     GET  login 403   200   403   200   200   200   404   login 403
scoring:contextual-verdict-case GET  login 403   200   403   200   200   200   404   login 403
scoring:contextual-verdict-case POST login 403   409   403   409   409   409   404   login 403
scoring:contextual-verdict-image GET  login 403   200   403   200   200   200   404   login 403
scoring:contextual-set-people   GET  405
scoring:contextual-set-people   POST login 403   403   403   403   302   302   404   login 403
scoring:contextual-run          GET  login 200   403   200   200   200   200   404   200   200
scoring:contextual-run-new      GET  login 403   403   403   403   200   200   404   login 403
scoring:contextual-run-new      POST login 403   403   403   403   302   302   404   login 403
scoring:contextual-import       GET  login 403   403   403   403   200   200   404   login 403
scoring:contextual-import       POST login 403   403   403   403   422   422   404   login 403
judge-new    GET  login 403   403   403   403   200   200   404   login 403
judge-new    POST login 403   403   403   403   422   422   404   login 403
judge-edit   GET  login 403   403   403   403   200   200   404   login 403
judge-edit   POST login 403   403   403   403   422   422   404   login 403
scoring:contextual-evaluation-new GET  login 403   403   403   403   200   200   404   login 403
scoring:contextual-evaluation-new POST login 403   403   403   403   422   422   404   login 403
judge-try    GET  405
judge-try    POST login 403   403   403   403   302   302   404   login 403
judge-delete GET  405
judge-delete POST login 403   403   403   403   302   302   404   login 403
scoring:contextual-set-delete   GET  405
scoring:contextual-set-delete   POST login 403   403   403   403   302   302   404   login 403
scoring:contextual-evaluation-delete GET  405
scoring:contextual-evaluation-delete POST login 403   403   403   403   302   302   404   login 403
scoring:contextual-retry        GET  405
scoring:contextual-retry        POST login 403   403   403   403   302   302   404   login 403
scoring:contextual-cancel       GET  405
scoring:contextual-cancel       POST login 403   403   403   403   302   302   404   login 403
scoring:embedding-new           GET  login 403   403   200   403   200   200   404   login 403
scoring:embedding-new           POST login 403   403   422   403   422   422   404   login 403
scoring:freshness               GET  login 200   403   200   200   200   200   404   200   200
scoring:freshness-csv           GET  login 200   403   200   200   200   200   404   200   200
scoring:planner                 GET  login 200   403   200   200   200   200   404   200   200
scoring:planner-chart           GET  login 200   403   200   200   200   200   404   200   200
scoring:reusability             GET  login 200   403   200   200   200   200   404   200   200
scoring:reusability-chart       GET  login 200   403   200   200   200   200   404   200   200
scoring:run-top-up              GET  login 200   403   200   200   200   200   404   200   200
scoring:run-top-up              POST login 403   403   403   403   422   422   404   403   403
scoring:top-up-new              GET  login 200   403   200   200   200   200   404   200   200
scoring:top-up-new              POST login 403   403   403   403   200   200   404   403   403
scoring:reliability             GET  login 200   403   200   200   200   200   404   200   200
scoring:probing-list            GET  login 403   403   403   403   200   200   404   login 403
scoring:probing-settle          GET  405
scoring:probing-settle          POST login 403   403   403   403   302   302   404   login 403
scoring:run-chart               GET  login 200   403   200   200   200   200   404   200   200
scoring:run-holes               GET  login 200   403   200   200   200   200   404   200   200
scoring:run-holes-csv           GET  login 200   403   200   200   200   200   404   200   200
scoring:live-ask                GET  405
scoring:live-ask                POST login 403   403   403   403   422   422   404   login 403
scoring:live-delete             GET  405
scoring:live-delete             POST login 403   403   403   403   302   302   404   login 403
scoring:live-detail             GET  login 200   403   200   200   200   200   404   200   200
scoring:live-edit               GET  login 403   403   403   403   200   200   404   login 403
scoring:live-edit               POST login 403   403   403   403   422   422   404   login 403
scoring:live-list               GET  login 200   403   200   200   200   200   404   200   200
scoring:live-new                GET  login 403   403   403   403   200   200   404   login 403
scoring:live-new                POST login 403   403   403   403   422   422   404   login 403
scoring:live-try                GET  405
scoring:live-try                POST login 403   403   403   403   422   422   404   login 403
scoring:run-latency             GET  login 200   403   200   200   200   200   404   200   200
scoring:run-latency-chart       GET  login 200   403   200   200   200   200   404   200   200
scoring:moves                   GET  login 200   403   200   200   200   200   404   200   200
scoring:moves-file              GET  login 200   403   200   200   200   200   404   200   200
scoring:rescoring               GET  login 200   403   200   200   200   200   404   200   200
scoring:rescoring               POST login 403   403   403   403   302   302   404   403   403
scoring:run-queries             GET  login 200   403   200   200   200   200   404   200   200
scoring:run-queries-csv         GET  login 200   403   200   200   200   200   404   200   200
scoring:run-query               GET  login 200   403   200   200   200   200   404   200   200
scoring:run-reading             GET  login 200   403   200   200   200   200   404   200   200
scoring:run-slices              GET  login 200   403   200   200   200   200   404   200   200
scoring:run-scores              GET  login 200   403   200   200   200   200   404   200   200
scoring:runs-score              GET  405
scoring:runs-score              POST login 403   403   403   403   302   302   404   login 403
scoring:slice-reach-chart       GET  login 200   403   200   200   200   200   404   200   200
scoring:phase-close             GET  405
scoring:phase-close             POST login 403   403   403   403   302   302   404   login 403
scoring:phase-detail            GET  login 403   403   200   403   200   200   404   login 403
scoring:phase-edit              GET  login 403   403   403   403   200   200   404   login 403
scoring:phase-edit              POST login 403   403   403   403   422   422   404   login 403
scoring:phase-list              GET  login 403   403   200   403   200   200   404   login 403
scoring:phase-new               GET  login 403   403   403   403   200   200   404   login 403
scoring:phase-new               POST login 403   403   403   403   422   422   404   login 403
scoring:submission-detail       GET  login 403   403   200   403   200   200   404   login 403
scoring:submission-list         GET  login 403   403   200   403   200   200   404   login 403
scoring:submission-leave-out    GET  405
scoring:submission-leave-out    POST login 403   403   302   403   302   302   404   login 403
scoring:submission-send-on      GET  405
scoring:submission-send-on      POST login 403   403   302   403   302   302   404   login 403
scoring:submission-new          GET  login 403   403   200   403   200   200   404   login 403
scoring:submission-new          POST login 403   403   422   403   422   422   404   login 403
scoring:submission-state        GET  login 403   403   200   403   200   200   404   login 403
scoring:run-withdraw            GET  405
scoring:run-withdraw            POST login 403   403   403   403   302   302   404   login 403
scoring:submission-withdraw     GET  405
scoring:submission-withdraw     POST login 403   403   302   403   302   302   404   login 403
sign-in                         GET  200
sign-in                         POST 200
provider-sign-in                GET  405
provider-sign-in                POST 404
provider-callback               GET  404
sign-out                        GET  405
sign-out                        POST 302
security-key-create             GET  login 200   200   200   200   200   200   200   login 200
security-key-create             POST login 422   422   422   422   422   422   422   login 422
sign-in-second                  GET  302
sign-in-second                  POST 302
slice-add                       GET  405
slice-add                       POST login 403   403   403   403   422   422   404   login 403
slice-decide                    GET  405
slice-decide                    POST login 403   403   403   403   302   302   404   login 403
slice-delete                    GET  405
slice-delete                    POST login 403   403   403   403   302   302   404   login 403
slice-detail                    GET  login 200   200   200   200   200   200   404   200   200
slice-edit                      GET  login 403   403   403   403   200   200   404   login 403
slice-edit                      POST login 403   403   403   403   422   422   404   login 403
slice-import                    GET  login 403   403   403   403   200   200   404   login 403
slice-import                    POST login 403   403   403   403   422   422   404   login 403
slice-list                      GET  login 200   200   200   200   200   200   404   200   200
slice-new                       GET  login 403   403   403   403   200   200   404   login 403
slice-new                       POST login 403   403   403   403   422   422   404   login 403
slice-preview                   GET  login 403   403   403   403   200   200   404   login 403
slice-refresh                   GET  405
slice-refresh                   POST login 403   403   403   403   302   302   404   login 403
slice-register                  GET  405
slice-register                  POST login 403   403   403   403   422   422   404   login 403
snapshot-discard                GET  405
snapshot-discard                POST login 403   403   403   403   302   302   404   login 403
snapshot-take                   GET  405
snapshot-take                   POST login 403   403   403   403   302   302   404   login 403
split-assignment                GET  login 200   200   200   200   200   200   404   200   200
split-chart                     GET  login 200   200   200   200   200   200   404   200   200
split-detail                    GET  login 200   200   200   200   200   200   404   200   200
split-detail                    POST login 403   403   403   403   422   422   404   login 403
split-hide                      GET  405
split-hide                      POST login 403   403   403   403   302   302   404   login 403
split-preview                   GET  login 403   403   403   403   200   200   404   login 403
split-preview-chart             GET  login 403   403   403   403   200   200   404   login 403
totp-create                     GET  login 200   200   200   200   200   200   200   login 200
totp-create                     POST login 422   422   422   422   422   422   422   login 422
team-add                        GET  login 405   405   405   405   405   405   405   login 405
team-add                        POST login 404   404   404   404   404   422   404   login 404
team-detail                     GET  login 404   404   404   404   404   200   404   login 404
team-detail                     POST login 405   405   405   405   405   405   405   login 405
team-join                       GET  login 200   200   200   200   200   200   200   login 200
team-join                       POST login 302   302   302   302   302   302   302   login 302
team-leave                      GET  login 405   405   405   405   405   405   405   login 405
team-leave                      POST login 404   404   404   404   404   302   404   login 404
team-link                       GET  login 405   405   405   405   405   405   405   login 405
team-link                       POST login 404   404   404   404   404   200   404   login 404
team-list                       GET  login 200   200   200   200   200   200   200   login 200
team-list                       POST login 422   422   422   422   422   422   422   login 422
site-search                     GET  login 200   200   200   200   200   200   200   login 200
site-search                     POST login 405   405   405   405   405   405   405   login 405
system                          GET  login 403   403   403   403   403   403   403   login 403
system                          POST login 405   405   405   405   405   405   405   login 405
"""


def _rows() -> dict[tuple[str, str], list[str]]:
    lines = [line.split() for line in TABLE.strip().splitlines() if not line.startswith("#")]
    width = len(PEOPLE) + 2
    return {
        (name, method): expected * width if len(expected) == 1 else expected
        for name, method, *expected in lines
    }


ROWS = _rows()
POSTED = [name for name, how in ROWS if how == "POST"]
# Mail programs post there without a cookie (RFC 8058): the signed link is what proves it.
POSTED.remove("mail-stop")
# Pictures: the browser keeps them, and asks each time whether it may show them.
ASKED_AGAIN = {name for name, _ in ROWS if name.endswith("-chart")} | {
    "log-curve",
    "scoring:contextual-image",
    "scoring:contextual-verdict-image",
    "document-image",
    "document-thumbnail",
}
ADDRESSES = {address.name: address for address in addresses()}

pytestmark = pytest.mark.usefixtures("in_the_world")


def ask(client: Client, method: str, address: Address, known: dict[str, object]) -> HttpResponse:
    """The answer, read to its end; what it changed is taken back."""
    url = reverse(address.name, kwargs=address.arguments(known))
    with transaction.atomic():
        response = client.generic(method, url, "posted=1", content_type=FORM)
        response.body = b"".join(response) if response.streaming else response.content
        transaction.set_rollback(True)
    return response


def told(response: HttpResponse) -> str:
    if response.status_code == 302 and response["Location"].startswith("/sign-in/?next="):
        return "login"
    return str(response.status_code)


def test_table_has_every_address_and_no_other():
    # Those of the API are in `test_api_access.py`.
    assert {name for name in ADDRESSES if not name.startswith("api:")} == {name for name, _ in ROWS}
    assert {len(expected) for expected in ROWS.values()} == {len(PEOPLE) + 2}


@pytest.mark.parametrize("who", ["anonymous", "olga"])
def test_way_of_asking_that_is_not_in_the_table_is_none(world, who):
    names = {name for name, _ in ROWS}
    others = {(name, method) for name in names for method in ("GET", "POST")} - set(ROWS)

    answers = {
        (name, method): ask(world.client(who), method, ADDRESSES[name], world.arguments)
        for name, method in others
    }

    assert {row for row, answer in answers.items() if answer.status_code != 405} == set()
    for (name, _), answer in answers.items():
        assert_no_cache_keeps_it(name, who, answer)


@pytest.mark.parametrize(("name", "method"), ROWS)
def test_answer_is_that_of_the_table(world, name, method):
    address, expected = ADDRESSES[name], ROWS[name, method]

    answers = [ask(world.client(who), method, address, world.arguments) for who in PEOPLE]
    Benchmark.objects.filter(pk=world.benchmark.pk).update(visibility="public")
    answers += [ask(world.client(who), method, address, world.arguments) for who in PEOPLE[::7]]

    assert [told(answer) for answer in answers] == expected
    for who, answer in zip([*PEOPLE, *PEOPLE[::7]], answers, strict=True):
        assert_no_cache_keeps_it(name, who, answer)
        # The one page that may be framed: what it is told is in the test of it.
        if answer.status_code == 200 and name != "scoring:board-embed":
            assert_browser_is_told(answer)


# The same bytes for whoever asks: `scoring/boards/test_embedding.py`.
FOR_OTHER_SITES = {"scoring:board-embed", "scoring:board-badge", "scoring:board-badge-json"}


def assert_no_cache_keeps_it(name: str, who: str, response: HttpResponse) -> None:
    """What is somebody's own is stored by no browser or proxy on the way."""
    kept = response.get("Cache-Control", "")
    if name in ASKED_AGAIN and response.status_code == 200:
        assert kept == "private, no-cache"
    elif name in FOR_OTHER_SITES and response.status_code == 200:
        assert kept == "public, max-age=300"
    elif name == "chart-bundle" and response.status_code == 200:
        assert kept == "public, max-age=31536000, immutable"
    elif name == "api-schema" and response.has_header("ETag"):
        assert kept == "private, no-cache"
    elif who != "anonymous" or name in ("api-docs", "api-schema") or response.cookies:
        assert {"private", "no-store"} <= set(kept.split(", ")), (name, who, kept)


# What pages read from the end of their address as a number, or as something that has one.
NUMBERED = (
    *("after", "against", "answer", "baseline", "change", "days", "depth", "exact", "family"),
    *("from", "job", "k", "limit", "list", "log", "page", "phase", "policy", "pool", "preview"),
    *("qrels", "release", "run", "runs", "shown", "version"),
)
PAGES = [name for name, method in ROWS if method == "GET" and ROWS[name, method][6] == "200"]


@pytest.mark.in_thirds
@pytest.mark.parametrize("name", PAGES)
def test_number_that_is_none_is_no_fault(world, name):
    client, address = world.client("olga"), ADDRESSES[name]
    url = reverse(name, kwargs=address.arguments(world.arguments))

    for number in ("²", "9" * 25):
        response = client.get(url, dict.fromkeys(NUMBERED, number))
        assert response.status_code < 500


@pytest.mark.in_thirds
@pytest.mark.parametrize("who", ["anonymous", "olga"])
@pytest.mark.parametrize("name", POSTED)
def test_post_without_token_is_refused(world, name, who):
    response = ask(
        world.client(who, enforce_csrf_checks=True), "POST", ADDRESSES[name], world.arguments
    )

    assert response.status_code == 403
    assert b"This form was open too long" in response.body


# --- what is not one's own benchmark's -----------------------------------------------------------

BY_NUMBER = [a for a in ADDRESSES.values() if {"slug", "pk"} <= set(a.parameters)]
BY_VERSION = [a for a in ADDRESSES.values() if "version" in a.parameters]


def way_that_opens(world: World, address: Address) -> str:
    """How Olga gets at what she has there."""
    opened = {"200", "202", "302", "415", "422"}
    return next(
        method
        for method in ("GET", "POST")
        if told(ask(world.client("olga"), method, address, world.arguments)) in opened
    )


@pytest.mark.parametrize("address", BY_NUMBER, ids=lambda address: address.name)
def test_number_of_another_benchmarks_object_is_not_found(world, address):
    mixed = {**world.foreign, "slug": world.benchmark.slug}

    method = way_that_opens(world, address)

    assert told(ask(world.client("olga"), method, address, mixed)) == "404"


@pytest.mark.parametrize("address", BY_VERSION, ids=lambda address: address.name)
def test_version_of_another_benchmarks_release_is_not_found(world, address):
    mixed = {**world.arguments, "version": world.foreign["version"]}

    method = way_that_opens(world, address)

    assert told(ask(world.client("olga"), method, address, mixed)) == "404"


# --- what the browser is told --------------------------------------------------------------------

INLINE = re.compile(
    rb"""<style|\sstyle\s*=|\son[a-z]+\s*=\s*["']|javascript:"""
    rb"""|<script(?![^>]*\ssrc=)(?![^>]*type="application/json")""",
    re.IGNORECASE,
)


def assert_browser_is_told(response: HttpResponse) -> None:
    """The security headers are there, and no style or script in the page."""
    headers = response.headers
    policy = dict(
        part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";")
    )
    assert policy["default-src"] == policy["script-src"] == policy["style-src"] == "'self'"
    assert policy["object-src"] == policy["frame-ancestors"] == "'none'"
    assert policy["base-uri"] == policy["form-action"] == "'self'"
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    if response["Content-Type"].startswith("text/html"):
        assert INLINE.findall(response.body) == []


@pytest.mark.parametrize(
    "text",
    [
        b'<p style="color: red">',
        b"<style>",
        b"<script>go()</script>",
        b"<a href='javascript:go()'>",
        b'<body onload="go()">',
    ],
)
def test_inline_style_or_script_would_be_seen(text):
    assert INLINE.search(text)
    assert not INLINE.search(b'<script src="/static/a.js" defer></script><a class="style">on = 1')
