"""Who gets what: every page and endpoint, every role, each way of asking."""

import re
from collections.abc import Iterator

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.db import transaction
from django.http import HttpResponse
from django.test import Client, override_settings
from django.urls import reverse

from benchmarks_app.models import Benchmark
from tests import world as worlds
from tests.world import Address, World

FORM = "application/x-www-form-urlencoded"
PEOPLE = ("anonymous", "vi", "ada", "sam", "bo", "mia", "olga", "cy")
# What each gets: a status, or `login` for the way to the sign-in page; one word is everybody's.
# A post carries nothing of use: 422 is a form that may be sent, with what it lacks. The two last
# columns are anonymous and cy, who belongs to another benchmark, on a public benchmark.
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
activity-export                 POST 405
audit-export                    GET  login 403   403   403   403   403   403   403   login 403
audit-export                    POST 405
audit-log                       GET  login 403   403   403   403   403   403   403   login 403
audit-log                       POST 405
click-qrels-new                 GET  login 403   403   403   403   200   200   404   login 403
click-qrels-new                 POST login 403   403   403   403   422   422   404   login 403
person-delete                   GET  login 403   403   403   403   403   403   403   login 403
person-delete                   POST login 403   403   403   403   403   403   403   login 403
person-export                   GET  405
person-export                   POST login 403   403   403   403   403   403   403   login 403
person-list                     GET  login 403   403   403   403   403   403   403   login 403
person-list                     POST 405
account-detail                  GET  login 200   200   200   200   200   200   200   login 200
account-detail                  POST login 422   422   422   422   422   422   422   login 422
activity-list                   GET  login 403   403   403   403   200   200   404   login 403
activity-list                   POST 405
annotation:adjudicate           GET  login 403   403   403   200   200   200   404   login 403
annotation:adjudicate           POST 405
annotation:adjudicate-item      GET  login 403   403   403   200   200   200   404   login 403
annotation:adjudicate-item      POST login 403   403   403   422   422   422   404   login 403
annotation:agreement            GET  login 403   403   403   200   200   200   404   login 403
annotation:agreement            POST 405
annotation:agreement-compute    GET  405
annotation:agreement-compute    POST login 403   403   403   302   302   302   404   login 403
annotation:cant-judge-create    GET  login 405   405   405   405   405   405   405   login 405
annotation:cant-judge-create    POST login 403   422   403   422   422   422   404   login 403
annotation:found-grade          GET  405
annotation:found-grade          POST login 403   403   403   422   422   422   404   login 403
annotation:guideline-detail     GET  login 200   200   200   200   200   200   404   200   200
annotation:guideline-detail     POST 405
annotation:guideline-edit       GET  login 403   403   403   403   200   200   404   login 403
annotation:guideline-edit       POST login 403   403   403   403   422   422   404   login 403
annotation:judge                GET  login 403   200   403   200   200   200   404   login 403
annotation:judge                POST login 405   405   405   405   405   405   405   login 405
annotation:judge-ask            GET  login 405   405   405   405   405   405   405   login 405
annotation:judge-ask            POST login 403   422   403   422   422   422   404   login 403
annotation:judge-benchmark      GET  login 403   302   403   302   302   302   404   login 403
annotation:judge-benchmark      POST 405
annotation:judge-exchange       GET  405
annotation:judge-exchange       POST 401   403   422   403   422   422   422   404   401   403
annotation:judge-keys           GET  login 200   200   200   200   200   200   200   login 200
annotation:judge-keys           POST login 422   422   422   422   422   422   422   login 422
annotation:judge-later          GET  login 405   405   405   405   405   405   405   login 405
annotation:judge-later          POST login 403   422   403   422   422   422   404   login 403
annotation:judge-session        GET  200
annotation:judge-session        POST 405
annotation:judgment-create      GET  login 405   405   405   405   405   405   405   login 405
annotation:judgment-create      POST login 403   422   403   422   422   422   404   login 403
annotation:judgment-list        GET  login 403   403   403   403   200   200   404   login 403
annotation:judgment-list        POST 405
annotation:judgment-undo        GET  login 405   405   405   405   405   405   405   login 405
annotation:judgment-undo        POST login 403   422   403   422   422   422   404   login 403
annotation:judgments-export     GET  login 403   403   403   403   200   200   404   login 403
annotation:judgments-export     POST 405
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
annotation:pair-detail          POST 405
annotation:policy-edit          GET  login 403   403   403   403   200   200   404   login 403
annotation:policy-edit          POST login 403   403   403   403   422   422   404   login 403
annotation:pool-chart           GET  login 403   403   403   200   200   200   404   login 403
annotation:pool-chart           POST 405
annotation:pool-charts          GET  login 403   403   403   200   200   200   404   login 403
annotation:pool-charts          POST 405
annotation:pool-detail          GET  login 403   403   403   200   200   200   404   login 403
annotation:pool-detail          POST 405
annotation:pool-estimates       GET  login 403   403   403   403   200   200   404   login 403
annotation:pool-estimates       POST 405
annotation:pool-sparing         GET  login 403   403   403   403   200   200   404   login 403
annotation:pool-sparing         POST login 403   403   403   403   422   422   404   login 403
annotation:pool-queue           GET  login 403   403   403   403   200   200   404   login 403
annotation:pool-queue           POST login 403   403   403   403   422   422   404   login 403
annotation:pool-sparing-stop    GET  405
annotation:pool-sparing-stop    POST login 403   403   403   403   302   302   404   login 403
annotation:pool-list            GET  login 403   403   403   200   200   200   404   login 403
annotation:pool-list            POST 405
annotation:pool-new             GET  login 403   403   403   403   200   200   404   login 403
annotation:pool-new             POST login 403   403   403   403   422   422   404   login 403
annotation:pool-people          GET  login 403   403   403   403   200   200   404   login 403
annotation:pool-people          POST 405
annotation:pool-progress        GET  login 403   403   403   200   200   200   404   login 403
annotation:pool-progress        POST 405
annotation:pool-release         GET  405
annotation:pool-release         POST login 403   403   403   403   302   302   404   login 403
annotation:pool-settings        GET  405
annotation:pool-settings        POST login 403   403   403   403   422   422   404   login 403
annotation:pool-simulate        GET  login 403   403   403   403   200   200   404   login 403
annotation:pool-simulate        POST login 403   403   403   403   422   422   404   login 403
annotation:pool-simulation-chart GET login 403   403   403   403   200   200   404   login 403
annotation:pool-simulation-chart POST 405
annotation:pool-state           GET  405
annotation:pool-state           POST login 403   403   403   403   302   302   404   login 403
annotation:pool-summary         GET  login 403   403   403   200   200   200   404   login 403
annotation:pool-summary         POST 405
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
annotation:question-list        POST 405
annotation:query-search         GET  login 403   403   403   200   200   200   404   login 403
annotation:query-search         POST 405
annotation:queue                GET  login 200   200   200   200   200   200   200   login 200
annotation:queue                POST login 405   405   405   405   405   405   405   login 405
annotation:slice-coverage       GET  login 403   403   403   200   200   200   404   login 403
annotation:slice-coverage       POST 405
annotation:stale-list           GET  login 403   403   403   403   200   200   404   login 403
annotation:stale-list           POST 405
annotation:stale-offer          GET  405
annotation:stale-offer          POST login 403   403   403   403   302   302   404   login 403
annotation:start                GET  login 403   200   403   200   200   200   404   login 403
annotation:start                POST login 403   422   403   422   422   422   404   login 403
annotation:stop                 GET  login 405   405   405   405   405   405   405   login 405
annotation:stop                 POST login 403   302   403   302   302   302   404   login 403
annotation:words-index          GET  405
annotation:words-index          POST login 403   403   403   302   302   302   404   login 403
api-docs                        GET  200
api-docs                        POST 405
api-schema                      GET  200
api-schema                      POST 405
api-token-create                GET  login 405   405   405   405   405   405   405   login 405
api-token-create                POST login 422   422   422   422   422   422   422   login 422
api-token-revoke                GET  login 405   405   405   405   405   405   405   login 405
api-token-revoke                POST login 404   404   404   404   404   302   404   login 404
api:ann                         GET  401   400   403   400   400   400   400   404   400   400
api:ann                         POST 405
api:click-qrels                 GET  405
api:click-qrels                 POST 401   403   403   403   403   415   415   404   401   403
api:freshness-detail            GET  401   200   403   200   200   200   200   404   200   200
api:freshness-detail            POST 405
api:gate-came-true              GET  401   200   403   200   200   200   200   404   200   200
api:gate-came-true              POST 405
api:gate-detail                 GET  401   200   403   200   200   200   200   404   200   200
api:gate-detail                 POST 405
api:gate-list                   GET  401   200   403   200   200   200   200   404   200   200
api:gate-list                   POST 401   403   403   415   403   415   415   404   401   403
api:gate-online                 GET  401   200   403   200   200   200   200   404   200   200
api:gate-online                 POST 401   403   403   415   403   415   415   404   401   403
api:gate-online-log             GET  405
api:gate-online-log             POST 401   403   403   415   403   415   415   404   401   403
api:gate-policy-detail          GET  401   200   403   200   200   200   200   404   200   200
api:gate-policy-detail          POST 405
api:gate-policy-list            GET  401   200   403   200   200   200   200   404   200   200
api:gate-policy-list            POST 401   403   403   415   403   415   415   404   401   403
api:gate-policy-retire          GET  405
api:gate-policy-retire          POST 401   403   403   403   403   200   200   404   401   403
api:gate-report                 GET  401   200   403   200   200   200   200   404   200   200
api:gate-report                 POST 405
api:gate-rehearsal-detail       GET  401   403   403   404   403   200   200   404   401   403
api:gate-rehearsal-detail       POST 405
api:gate-rehearsal-list         GET  405
api:gate-rehearsal-list         POST 401   403   403   415   403   415   415   404   401   403
api:planner                     GET  401   200   403   200   200   200   200   404   200   200
api:planner                     POST 405
api:reusability-detail          GET  401   200   403   200   200   200   200   404   200   200
api:reusability-detail          POST 405
api:top-up-list                 GET  401   400   403   400   400   400   400   404   400   400
api:top-up-list                 POST 401   403   403   403   403   415   415   404   401   403
api:agreement-detail            GET  401   403   403   403   200   200   200   404   401   403
api:agreement-detail            POST 401   403   403   403   415   415   415   404   401   403
api:benchmark-detail            GET  401   200   200   200   200   200   200   404   200   200
api:benchmark-detail            POST 405
api:benchmark-list              GET  200
api:benchmark-list              POST 401   415   415   415   415   415   415   415   401   415
api:candidates-list             GET  401   403   403   403   403   200   200   404   401   403
api:candidates-list             POST 401   403   403   403   403   415   415   404   401   403
api:contamination-detail        GET  401   200   200   200   200   200   200   404   200   200
api:contamination-detail        POST 405
api:contamination-list          GET  401   200   200   200   200   200   200   404   200   200
api:contamination-list          POST 401   403   403   403   403   415   415   404   401   403
api:contamination-salt          GET  401   403   403   403   403   200   200   404   401   403
api:contamination-salt          POST 405
api:contamination-matches       GET  401   200   200   200   200   200   200   404   200   200
api:contamination-matches       POST 405
api:comparison-detail           GET  401   200   403   200   200   200   200   404   200   200
api:comparison-detail           POST 405
api:comparison-list             GET  401   422   403   422   422   422   422   404   422   422
api:comparison-list             POST 401   415   403   415   415   415   415   404   401   415
api:comparison-queries          GET  401   422   403   422   422   422   422   404   422   422
api:comparison-queries          POST 405
api:comparison-results          GET  401   422   403   422   422   422   422   404   422   422
api:comparison-results          POST 405
api:comparison-robustness       GET  401   422   403   422   422   422   422   404   422   422
api:comparison-robustness       POST 401   415   403   415   415   415   415   404   401   415
api:corpus-detail               GET  401   200   200   200   200   200   200   404   200   200
api:corpus-detail               POST 405
api:document-grades-list        GET  405
api:document-grades-list        POST 401   403   403   403   403   415   415   404   401   403
api:family-confirm              GET  405
api:family-confirm              POST 401   403   403   403   403   415   415   404   401   403
api:family-confirm-several      GET  405
api:family-confirm-several      POST 401   403   403   403   403   415   415   404   401   403
api:family-detail               GET  401   200   200   200   200   200   200   404   200   200
api:family-detail               POST 405
api:family-group                GET  405
api:family-group                POST 401   403   403   403   403   415   415   404   401   403
api:family-links                GET  401   200   200   200   200   200   200   404   200   200
api:family-links                POST 405
api:family-list                 GET  401   200   200   200   200   200   200   404   200   200
api:family-list                 POST 405
api:family-merge                GET  405
api:family-merge                POST 401   403   403   403   403   415   415   404   401   403
api:family-split                GET  405
api:family-split                POST 401   403   403   403   403   415   415   404   401   403
api:family-undo                 GET  405
api:family-undo                 POST 401   403   403   403   403   415   415   404   401   403
api:family-verdict              GET  405
api:family-verdict              POST 401   403   403   403   403   415   415   404   401   403
api:fetch-list                  GET  405
api:fetch-list                  POST 401   403   403   403   403   415   415   404   401   403
api:export-detail               GET  401   200   403   200   200   200   200   404   200   200
api:export-detail               POST 401   403   403   403   403   202   202   404   401   403
api:export-list                 GET  401   200   403   200   200   200   200   404   200   200
api:export-list                 POST 405
api:job-cancel                  GET  405
api:job-cancel                  POST 401   404   404   404   404   200   200   404   401   404
api:job-detail                  GET  401   404   404   404   404   200   200   404   401   404
api:job-detail                  POST 405
api:job-retry                   GET  405
api:job-retry                   POST 401   404   404   404   404   202   202   404   401   404
api:judgments-export            GET  401   403   403   403   403   200   200   404   401   403
api:judgments-export            POST 405
api:judgments-import            GET  405
api:judgments-import            POST 401   403   403   403   403   415   415   404   401   403
api:leak-report                 GET  401   200   403   200   200   200   200   404   200   200
api:leak-report                 POST 405
api:leak-report-markdown        GET  401   200   403   200   200   200   200   404   200   200
api:leak-report-markdown        POST 405
api:log-detail                  GET  401   403   403   403   403   200   200   404   401   403
api:log-detail                  POST 405
api:log-list                    GET  401   403   403   403   403   200   200   404   401   403
api:log-list                    POST 401   403   403   403   403   415   415   404   401   403
api:log-sample-preview          GET  405
api:log-sample-preview          POST 401   403   403   403   403   415   415   404   401   403
api:log-samples                 GET  401   403   403   403   403   200   200   404   401   403
api:log-samples                 POST 401   403   403   403   403   415   415   404   401   403
api:account-delete              GET  405
api:account-delete              POST 401   403   403   403   403   403   403   403   401   403
api:account-export              GET  401   403   403   403   403   403   403   403   401   403
api:account-export              POST 405
api:event-export                GET  401   403   403   403   403   200   200   404   401   403
api:event-export                POST 405
api:event-list                  GET  401   403   403   403   403   200   200   404   401   403
api:event-list                  POST 405
api:me-delete                   GET  405
api:me-delete                   POST 401   415   415   415   415   415   415   415   401   415
api:me-export                   GET  401   200   200   200   200   200   200   200   401   200
api:me-export                   POST 405
api:me-address-link             GET  405
api:me-address-link             POST 401   202   202   202   202   202   202   202   401   202
api:site-event-export           GET  401   403   403   403   403   403   403   403   401   403
api:site-event-export           POST 405
api:site-events                 GET  401   403   403   403   403   403   403   403   401   403
api:site-events                 POST 405
api:me-detail                   GET  401   200   200   200   200   200   200   200   401   200
api:me-detail                   POST 405
api:moves-detail                GET  401   200   403   200   200   200   200   404   200   200
api:moves-detail                POST 405
api:rescoring-detail            GET  401   200   403   200   200   200   200   404   200   200
api:rescoring-detail            POST 401   403   403   403   403   202   202   404   401   403
api:pair-detail                 GET  401   403   403   403   400   400   400   404   401   403
api:pair-detail                 POST 405
api:pool-detail                 GET  401   403   403   403   200   200   200   404   401   403
api:pool-detail                 POST 405
api:phase-close                 GET  405
api:phase-close                 POST 401   403   403   403   403   200   200   404   401   403
api:phase-detail                GET  401   403   403   200   403   200   200   404   401   403
api:phase-detail                POST 405
api:phase-list                  GET  401   403   403   200   403   200   200   404   401   403
api:phase-list                  POST 401   403   403   403   403   415   415   404   401   403
api:submission-detail           GET  401   403   403   200   403   200   200   404   401   403
api:submission-detail           POST 405
api:submission-embeddings       GET  405
api:submission-embeddings       POST 401   403   403   415   403   415   415   404   401   403
api:submission-leave-out        GET  405
api:submission-leave-out        POST 401   403   403   415   403   415   415   404   401   403
api:submission-send-on          GET  405
api:submission-send-on          POST 401   403   403   415   403   415   415   404   401   403
api:submission-list             GET  401   403   403   200   403   200   200   404   401   403
api:submission-list             POST 401   403   403   415   403   415   415   404   401   403
api:run-withdraw                GET  405
api:run-withdraw                POST 401   403   403   403   403   200   200   404   401   403
api:submission-withdraw         GET  405
api:submission-withdraw         POST 401   403   403   200   403   200   200   404   401   403
api:pool-list                   GET  401   403   403   403   200   200   200   404   401   403
api:pool-list                   POST 401   403   403   403   403   415   415   404   401   403
api:pool-estimates              GET  401   403   403   403   403   200   200   404   401   403
api:pool-estimates              POST 405
api:pool-queue                  GET  401   403   403   403   403   200   200   404   401   403
api:pool-queue                  POST 401   403   403   403   403   415   415   404   401   403
api:pool-sparing                GET  401   403   403   403   403   200   200   404   401   403
api:pool-sparing                POST 401   403   403   403   403   415   415   404   401   403
api:pool-people                 GET  401   403   403   403   200   200   200   404   401   403
api:pool-people                 POST 405
api:pool-report                 GET  401   403   403   403   200   200   200   404   401   403
api:pool-report                 POST 405
api:qrels-detail                GET  401   403   403   403   403   200   200   404   401   403
api:qrels-detail                POST 405
api:qrels-download              GET  401   403   403   403   403   200   200   404   401   403
api:qrels-download              POST 405
api:qrels-list                  GET  401   403   403   403   403   200   200   404   401   403
api:qrels-list                  POST 401   403   403   403   403   415   415   404   401   403
api:qrels-map                   GET  405
api:qrels-map                   POST 401   403   403   403   403   415   415   404   401   403
api:release-deprecate           GET  405
api:release-deprecate           POST 401   403   403   403   403   415   415   404   401   403
api:release-detail              GET  401   200   403   200   200   200   200   404   200   200
api:release-detail              POST 405
api:release-draft               GET  401   403   403   403   403   200   200   404   401   403
api:release-draft               POST 405
api:release-draft-check         GET  405
api:release-draft-check         POST 401   403   403   403   403   202   202   404   401   403
api:release-draft-publish       GET  405
api:release-draft-publish       POST 401   403   403   403   403   415   415   404   401   403
api:release-file                GET  401   200   403   200   200   200   200   404   200   200
api:release-file                POST 405
api:release-list                GET  401   200   403   200   200   200   200   404   200   200
api:release-list                POST 401   403   403   403   403   415   415   404   401   403
api:probing-settle              GET  405
api:probing-settle              POST 401   403   403   403   403   200   200   404   401   403
api:baseline-list               GET  401   200   403   200   200   200   200   404   200   200
api:baseline-list               POST 401   403   403   403   403   415   415   404   401   403
api:run-latencies               GET  401   200   403   200   200   200   200   404   200   200
api:run-latencies               POST 405
api:run-scores                  GET  401   200   403   200   200   200   200   404   200   200
api:run-scores                  POST 405
api:run-queries                 GET  401   200   403   200   200   200   200   404   200   200
api:run-queries                 POST 405
api:member-list                 GET  401   403   403   403   403   403   200   404   401   403
api:member-list                 POST 405
api:member-detail               GET  401   403   403   403   403   403   200   404   401   403
api:member-detail               POST 405
api:live-ask                    GET  405
api:live-ask                    POST 401   403   403   403   403   415   415   404   401   403
api:live-detail                 GET  401   200   403   200   200   200   200   404   200   200
api:live-detail                 POST 405
api:live-list                   GET  401   200   403   200   200   200   200   404   200   200
api:live-list                   POST 401   403   403   403   403   415   415   404   401   403
api:live-try                    GET  405
api:live-try                    POST 401   403   403   403   403   415   415   404   401   403
api:run-holes                   GET  401   200   403   200   200   200   200   404   200   200
api:run-holes                   POST 405
api:probing-list                GET  401   403   403   403   403   200   200   404   401   403
api:probing-list                POST 405
api:run-export                  GET  401   200   403   200   200   200   200   404   200   200
api:run-export                  POST 405
api:slice-decide                GET  405
api:slice-decide                POST 401   403   403   403   403   415   415   404   401   403
api:slice-detail                GET  401   200   200   200   200   200   200   404   200   200
api:slice-detail                POST 405
api:slice-import                GET  405
api:slice-import                POST 401   403   403   403   403   415   415   404   401   403
api:slice-list                  GET  401   200   200   200   200   200   200   404   200   200
api:slice-list                  POST 401   403   403   403   403   415   415   404   401   403
api:slice-members               GET  401   200   200   200   200   200   200   404   200   200
api:slice-members               POST 401   403   403   403   403   415   415   404   401   403
api:slice-preview               GET  405
api:slice-preview               POST 401   403   403   403   403   415   415   404   401   403
api:slice-refresh               GET  405
api:slice-refresh               POST 401   403   403   403   403   200   200   404   401   403
api:slice-register              GET  405
api:slice-register              POST 401   403   403   403   403   422   422   404   401   403
api:snapshot-detail             GET  401   403   403   403   403   200   200   404   401   403
api:snapshot-detail             POST 401   403   403   403   403   415   415   404   401   403
api:split-detail                GET  401   200   200   200   200   200   200   404   200   200
api:split-detail                POST 401   403   403   403   403   415   415   404   401   403
api:split-hide                  GET  405
api:split-hide                  POST 401   403   403   403   403   415   415   404   401   403
api:split-preview               GET  405
api:split-preview               POST 401   403   403   403   403   415   415   404   401   403
api:upload-detail               GET  401   403   403   403   403   200   200   404   401   403
api:upload-detail               POST 405
api:upload-import               GET  405
api:upload-import               POST 401   403   403   403   403   415   415   404   401   403
api:upload-list                 GET  401   403   403   403   403   200   200   404   401   403
api:upload-list                 POST 401   403   403   403   403   415   415   404   401   403
benchmark-detail                GET  login 200   200   200   200   200   200   404   200   200
benchmark-detail                POST 405
benchmark-new                   GET  login 200   200   200   200   200   200   200   login 200
benchmark-new                   POST login 422   422   422   422   422   422   422   login 422
benchmark-settings              GET  login 403   403   403   403   200   200   404   login 403
benchmark-settings              POST login 403   403   403   403   422   422   404   login 403
chart-bundle                    GET  200
chart-bundle                    POST 405
contamination-clean             GET  login 200   200   200   200   200   200   404   200   200
contamination-clean             POST 405
contamination-delete            GET  405
contamination-delete            POST login 403   403   403   403   302   302   404   login 403
contamination-detail            GET  login 200   200   200   200   200   200   404   200   200
contamination-detail            POST 405
contamination-list              GET  login 200   200   200   200   200   200   404   200   200
contamination-list              POST 405
contamination-new               GET  login 403   403   403   403   200   200   404   login 403
contamination-new               POST login 403   403   403   403   422   422   404   login 403
contamination-slice             GET  405
contamination-slice             POST login 403   403   403   403   302   302   404   login 403
corpus-detail                   GET  login 200   200   200   200   200   200   404   200   200
corpus-detail                   POST login 403   403   403   403   422   422   404   403   403
corpus-list                     GET  login 200   200   200   200   200   200   200   login 200
corpus-list                     POST 405
corpus-version                  GET  login 403   403   403   403   200   200   404   login 403
corpus-version                  POST 405
document-detail                 GET  login 200   200   200   200   200   200   404   200   200
document-detail                 POST 405
document-image                  GET  login 200   200   200   200   200   200   404   200   200
document-image                  POST 405
document-thumbnail              GET  login 200   200   200   200   200   200   404   200   200
document-thumbnail              POST 405
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
family-detail                   POST 405
family-group                    GET  login 403   403   403   403   200   200   404   login 403
family-group                    POST login 403   403   403   403   422   422   404   login 403
family-list                     GET  login 200   200   200   200   200   200   404   200   200
family-list                     POST 405
family-review                   GET  login 403   403   403   403   200   200   404   login 403
family-review                   POST 405
family-undo                     GET  405
family-undo                     POST login 403   403   403   403   409   409   404   login 403
fetch-new                       GET  login 403   403   403   403   200   200   404   login 403
fetch-new                       POST login 403   403   403   403   422   422   404   login 403
healthz                         GET  200
healthz                         POST 405
docs                            GET  200
docs                            POST 405
docs-file                       GET  404
docs-file                       POST 405
docs-page                       GET  200
docs-page                       POST 405
home                            GET  200
home                            POST 405
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
job-list                        POST 405
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
leak-report-detail              POST 405
leak-report-file                GET  login 200   403   200   200   200   200   404   200   200
leak-report-file                POST 405
log-columns                     GET  login 403   403   403   403   200   200   404   login 403
log-columns                     POST login 403   403   403   403   422   422   404   login 403
log-curve                       GET  login 403   403   403   403   200   200   404   login 403
log-curve                       POST 405
log-detail                      GET  login 403   403   403   403   200   200   404   login 403
log-detail                      POST 405
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
metrics                         POST 405
password-change                 GET  login 200   200   200   200   200   200   200   login 200
password-change                 POST login 200   200   200   200   200   200   200   login 200
password-reset                  GET  200
password-reset                  POST 200
password-reset-confirm          GET  200
password-reset-confirm          POST 200
password-reset-sent             GET  200
password-reset-sent             POST 405
people-list                     GET  login 403   403   403   403   403   200   404   login 403
people-list                     POST 405
qrels-delete                    GET  405
qrels-delete                    POST login 403   403   403   403   302   302   404   login 403
qrels-download                  GET  login 403   403   403   403   200   200   404   login 403
qrels-download                  POST 405
qrels-list                      GET  login 403   403   403   403   200   200   404   login 403
qrels-list                      POST 405
qrels-map                       GET  login 403   403   403   403   200   200   404   login 403
qrels-map                       POST login 403   403   403   403   422   422   404   login 403
query-detail                    GET  login 200   200   200   200   200   200   404   200   200
query-detail                    POST 405
query-list                      GET  login 200   200   200   200   200   200   404   200   200
query-list                      POST 405
search                          GET  login 200   200   200   200   200   200   404   200   200
search                          POST 405
readyz                          GET  200
readyz                          POST 405
recovery-codes-create           GET  login 404   404   404   404   404   404   404   login 404
recovery-codes-create           POST login 404   404   404   404   404   404   404   login 404
release-card                    GET  login 200   403   200   200   200   200   404   200   200
release-card                    POST 405
release-deprecate               GET  login 403   403   403   403   200   200   404   login 403
release-deprecate               POST login 403   403   403   403   422   422   404   login 403
release-detail                  GET  login 200   403   200   200   200   200   404   200   200
release-detail                  POST 405
release-draft                   GET  login 403   403   403   403   200   200   404   login 403
release-draft                   POST login 403   403   403   403   422   422   404   login 403
release-draft-check             GET  405
release-draft-check             POST login 403   403   403   403   302   302   404   login 403
release-draft-delete            GET  405
release-draft-delete            POST login 403   403   403   403   302   302   404   login 403
release-draft-edit              GET  login 403   403   403   403   200   200   404   login 403
release-draft-edit              POST login 403   403   403   403   422   422   404   login 403
release-export                  GET  login 200   403   200   200   200   200   404   200   200
release-export                  POST 405
release-export-format           GET  login 200   403   200   200   200   200   404   200   200
release-export-format           POST 405
release-export-start            GET  405
release-export-start            POST login 403   403   403   403   302   302   404   login 403
release-exports                 GET  login 200   403   200   200   200   200   404   200   200
release-exports                 POST 405
release-file                    GET  login 200   403   200   200   200   200   404   200   200
release-file                    POST 405
release-files                   GET  login 200   403   200   200   200   200   404   200   200
release-files                   POST 405
release-list                    GET  login 200   403   200   200   200   200   404   200   200
release-list                    POST 405
release-new                     GET  login 403   403   403   403   200   200   404   login 403
release-new                     POST login 403   403   403   403   422   422   404   login 403
run-detail                      GET  login 200   403   200   200   200   200   404   200   200
run-detail                      POST 405
run-export                      GET  login 200   403   200   200   200   200   404   200   200
run-export                      POST 405
run-list                        GET  login 200   403   200   200   200   200   404   200   200
run-list                        POST 405
sample-new                      GET  login 403   403   403   403   200   200   404   login 403
sample-new                      POST login 403   403   403   403   422   422   404   login 403
sample-preview                  GET  login 403   403   403   403   200   200   404   login 403
sample-preview                  POST 405
scoring:baseline-list           GET  login 200   403   200   200   200   200   404   200   200
scoring:baseline-list           POST login 403   403   403   403   422   422   404   403   403
scoring:baseline-progress       GET  login 302   403   302   302   302   302   404   302   302
scoring:baseline-progress       POST 405
scoring:baselines-create        GET  405
scoring:baselines-create        POST login 403   403   403   403   302   302   404   login 403
scoring:board-top               GET  login 200   403   200   200   200   200   404   200   200
scoring:board-top               POST 405
scoring:comparison              GET  login 200   403   200   200   200   200   404   200   200
scoring:comparison              POST 405
scoring:comparison-chart        GET  login 404   403   404   404   404   404   404   404   404
scoring:comparison-chart        POST 405
scoring:comparison-queries      GET  login 404   403   404   404   404   404   404   404   404
scoring:comparison-queries      POST 405
scoring:comparison-robustness   GET  login 302   403   302   302   302   302   404   302   302
scoring:comparison-robustness   POST 405
scoring:comparison-start        GET  405
scoring:comparison-start        POST login 302   403   302   302   302   302   404   302   302
scoring:comparison-summary      GET  login 404   403   404   404   404   404   404   404   404
scoring:comparison-summary      POST 405
scoring:gate-chart              GET  login 200   403   200   200   200   200   404   200   200
scoring:gate-chart              POST 405
scoring:gate-detail             GET  login 200   403   200   200   200   200   404   200   200
scoring:gate-detail             POST 405
scoring:gate-list               GET  login 200   403   200   200   200   200   404   200   200
scoring:gate-list               POST 405
scoring:gate-online             GET  405
scoring:gate-online             POST login 403   403   422   403   422   422   404   login 403
scoring:gate-online-log         GET  login 403   403   200   403   200   200   404   login 403
scoring:gate-online-log         POST login 403   403   422   403   422   422   404   login 403
scoring:gate-report             GET  login 200   403   200   200   200   200   404   200   200
scoring:gate-report             POST 405
scoring:gate-state              GET  login 200   403   200   200   200   200   404   200   200
scoring:gate-state              POST 405
scoring:policy-detail           GET  login 200   403   200   200   200   200   404   200   200
scoring:policy-detail           POST login 403   403   422   403   422   422   404   403   403
scoring:policy-new              GET  login 403   403   200   403   200   200   404   login 403
scoring:policy-new              POST login 403   403   422   403   422   422   404   login 403
scoring:policy-retire           GET  405
scoring:policy-retire           POST login 403   403   403   403   302   302   404   login 403
scoring:rehearsal-detail        GET  login 403   403   404   403   200   200   404   login 403
scoring:rehearsal-detail        POST login 403   403   404   403   422   422   404   login 403
scoring:rehearsal-state         GET  login 403   403   404   403   200   200   404   login 403
scoring:rehearsal-state         POST 405
scoring:side-by-side            GET  login 302   403   302   302   302   302   404   302   302
scoring:side-by-side            POST 405
scoring:leaderboard             GET  login 200   403   200   200   200   200   404   200   200
scoring:leaderboard             POST 405
scoring:board-embed             GET  404   404   404   404   404   404   404   404   200   200
scoring:board-embed             POST 405
scoring:board-badge             GET  404   404   404   404   404   404   404   404   200   200
scoring:board-badge             POST 405
scoring:board-badge-json        GET  404   404   404   404   404   404   404   404   200   200
scoring:board-badge-json        POST 405
scoring:leaderboard-csv         GET  login 200   403   200   200   200   200   404   200   200
scoring:leaderboard-csv         POST 405
scoring:leaderboard-compare     GET  login 404   403   404   404   404   404   404   404   404
scoring:leaderboard-compare     POST 405
scoring:leaderboard-history     GET  login 200   403   200   200   200   200   404   200   200
scoring:leaderboard-history     POST 405
scoring:leaderboard-history-chart GET login 200  403   200   200   200   200   404   200   200
scoring:leaderboard-history-chart POST 405
scoring:leaderboard-json        GET  login 200   403   200   200   200   200   404   200   200
scoring:leaderboard-json        POST 405
scoring:leaderboard-markdown    GET  login 200   403   200   200   200   200   404   200   200
scoring:leaderboard-markdown    POST 405
scoring:leaderboard-corrected   GET  login 200   403   200   200   200   200   404   200   200
scoring:leaderboard-corrected   POST 405
scoring:comparison-corrected    GET  login 302   403   302   302   302   302   404   302   302
scoring:comparison-corrected    POST 405
api:comparison-corrected        GET  401   422   403   422   422   422   422   404   422   422
api:comparison-corrected        POST 405
api:leaderboard-corrected       GET  401   200   403   200   200   200   200   404   200   200
api:leaderboard-corrected       POST 405
query-draw-list                 GET  login 403   403   403   403   200   200   404   login 403
query-draw-list                 POST login 403   403   403   403   422   422   404   login 403
query-draw-queries              GET  login 403   403   403   403   200   200   404   login 403
query-draw-queries              POST 405
api:query-draw-list             GET  401   403   403   403   403   200   200   404   401   403
api:query-draw-list             POST 401   403   403   403   403   415   415   404   401   403
scoring:leaderboard-slices      GET  login 200   403   200   200   200   200   404   200   200
scoring:leaderboard-slices      POST 405
scoring:leaderboard-slices-csv  GET  login 200   403   200   200   200   200   404   200   200
scoring:leaderboard-slices-csv  POST 405
scoring:reported-delete         GET  405
scoring:reported-delete         POST login 403   403   403   403   302   302   404   login 403
scoring:reported-edit           GET  login 403   403   403   403   200   200   404   login 403
scoring:reported-edit           POST login 403   403   403   403   422   422   404   login 403
scoring:reported-list           GET  login 200   403   200   200   200   200   404   200   200
scoring:reported-list           POST 405
scoring:reported-new            GET  login 403   403   200   403   200   200   404   login 403
scoring:reported-new            POST login 403   403   422   403   422   422   404   login 403
api:leaderboard-detail          GET  401   200   403   200   200   200   200   404   200   200
api:leaderboard-detail          POST 405
api:leaderboard-slices          GET  401   200   403   200   200   200   200   404   200   200
api:leaderboard-slices          POST 405
api:leaderboard-history         GET  401   200   403   200   200   200   200   404   200   200
api:leaderboard-history         POST 405
api:reported-list               GET  401   200   403   200   200   200   200   404   200   200
api:reported-list               POST 401   403   403   415   403   415   415   404   401   403
api:reported-detail             GET  401   200   403   200   200   200   200   404   200   200
api:reported-detail             POST 405
api:contrastive-list            GET  401   200   403   200   200   200   200   404   200   200
api:contrastive-list            POST 401   403   403   415   403   415   415   404   401   403
api:contrastive-detail          GET  401   200   403   200   200   200   200   404   200   200
api:contrastive-detail          POST 405
api:contrastive-ranks           GET  401   200   403   200   200   200   200   404   200   200
api:contrastive-ranks           POST 405
scoring:leaderboard-release     GET  login 200   403   200   200   200   200   404   200   200
scoring:leaderboard-release     POST 405
scoring:ann                     GET  login 200   403   200   200   200   200   404   200   200
scoring:ann                     POST 405
scoring:ann-chart               GET  login 200   403   200   200   200   200   404   200   200
scoring:ann-chart               POST 405
scoring:contrastive-list        GET  login 200   403   200   200   200   200   404   200   200
scoring:contrastive-list        POST 405
scoring:contrastive-new         GET  login 403   403   200   403   200   200   404   login 403
scoring:contrastive-new         POST login 403   403   422   403   422   422   404   login 403
scoring:contrastive-detail      GET  login 200   403   200   200   200   200   404   200   200
scoring:contrastive-detail      POST 405
scoring:contrastive-state       GET  login 200   403   200   200   200   200   404   200   200
scoring:contrastive-state       POST 405
scoring:contrastive-ranks-csv   GET  login 200   403   200   200   200   200   404   200   200
scoring:contrastive-ranks-csv   POST 405
scoring:contrastive-chart       GET  login 200   403   200   200   200   200   404   200   200
scoring:contrastive-chart       POST 405
scoring:contrastive-delete      GET  405
scoring:contrastive-delete      POST login 403   403   302   403   302   302   404   login 403
scoring:contextual-list         GET  login 200   403   200   200   200   200   404   200   200
scoring:contextual-list         POST 405
scoring:contextual-set          GET  login 200   403   200   200   200   200   404   200   200
scoring:contextual-set          POST 405
scoring:contextual-image        GET  login 200   403   200   200   200   200   404   200   200
scoring:contextual-image        POST 405
scoring:contextual-evaluation   GET  login 200   403   200   200   200   200   404   200   200
scoring:contextual-evaluation   POST 405
scoring:contextual-progress     GET  login 200   403   200   200   200   200   404   200   200
scoring:contextual-progress     POST 405
scoring:contextual-chart        GET  login 200   403   200   200   200   200   404   200   200
scoring:contextual-chart        POST 405
scoring:contextual-export       GET  login 200   403   200   200   200   200   404   200   200
scoring:contextual-export       POST 405
scoring:contextual-case         GET  login 200   403   200   200   200   200   404   200   200
scoring:contextual-case         POST 405
scoring:contextual-compare      GET  login 200   403   200   200   200   200   404   200   200
scoring:contextual-compare      POST 405
annotation:campaign-list     GET  login 403   403   403   403   200   200   404   login 403
annotation:campaign-list     POST 405
annotation:campaign-new      GET  login 403   403   403   403   200   200   404   login 403
annotation:campaign-new      POST login 403   403   403   403   422   422   404   login 403
annotation:campaign-estimate GET  login 403   403   403   403   200   200   404   login 403
annotation:campaign-estimate POST 405
annotation:campaign-detail   GET  login 403   403   403   403   200   200   404   login 403
annotation:campaign-detail   POST 405
annotation:campaign-calibration GET  login 403   403   403   403   200   200   404   login 403
annotation:campaign-calibration POST 405
annotation:campaign-progress GET  login 403   403   403   403   200   200   404   login 403
annotation:campaign-progress POST 405
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
api:campaign-list   GET  401   403   403   403   403   200   200   404   401   403
api:campaign-list   POST 401   403   403   403   403   415   415   404   401   403
api:campaign-detail GET  401   403   403   403   403   200   200   404   401   403
api:campaign-detail POST 405
api:campaign-calibration GET  401   403   403   403   403   200   200   404   401   403
api:campaign-calibration POST 405
api:campaign-failed GET  401   403   403   403   403   200   200   404   401   403
api:campaign-failed POST 405
api:campaign-start  GET  405
api:campaign-start  POST 401   403   403   403   403   415   415   404   401   403
api:campaign-pause  GET  405
api:campaign-pause  POST 401   403   403   403   403   202   202   404   401   403
api:campaign-cancel GET  405
api:campaign-cancel POST 401   403   403   403   403   202   202   404   401   403
api:campaign-publish GET  405
api:campaign-publish POST 401   403   403   403   403   415   415   404   401   403
api:campaign-try    GET  405
api:campaign-try    POST 401   403   403   403   403   202   202   404   401   403
annotation:contradiction-list   GET  login 403   403   403   403   200   200   404   login 403
annotation:contradiction-list   POST 405
annotation:contradiction-settle GET  405
annotation:contradiction-settle POST login 403   403   403   403   302   302   404   login 403
annotation:example-new          GET  login 403   403   403   403   200   200   404   login 403
annotation:example-new          POST login 403   403   403   403   422   422   404   login 403
annotation:example-list         GET  login 403   403   403   403   200   200   404   login 403
annotation:example-list         POST 405
annotation:example-withdraw     GET  405
annotation:example-withdraw     POST login 403   403   403   403   302   302   404   login 403
api:contradiction-list          GET  401   403   403   403   403   200   200   404   401   403
api:contradiction-list          POST 401   403   403   403   403   415   415   404   401   403
api:example-list                GET  401   403   403   403   403   200   200   404   401   403
api:example-list                POST 401   403   403   403   403   415   415   404   401   403
api:example-detail              GET  401   403   403   403   403   200   200   404   401   403
api:example-detail              POST 405
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
api:webhook-list                GET  401   403   403   403   403   200   200   404   401   403
api:webhook-list                POST 401   403   403   403   403   415   415   404   401   403
api:webhook-detail              GET  401   403   403   403   403   200   200   404   401   403
api:webhook-detail              POST 405
api:webhook-secret              GET  405
api:webhook-secret              POST 401   403   403   403   403   200   200   404   401   403
api:webhook-test                GET  405
api:webhook-test                POST 401   403   403   403   403   202   202   404   401   403
api:webhook-resend              GET  405
api:webhook-resend              POST 401   403   403   403   403   202   202   404   401   403
api:webhook-delivery-list       GET  401   403   403   403   403   200   200   404   401   403
api:webhook-delivery-list       POST 405
api:mail-choices                GET  401   200   200   200   200   200   200   200   401   200
api:mail-choices                POST 405
judge-list   GET  login 403   403   403   403   200   200   404   login 403
judge-list   POST 405
judge-detail GET  login 403   403   403   403   200   200   404   login 403
judge-detail POST 405
judge-trial  GET  login 403   403   403   403   200   200   404   login 403
judge-trial  POST 405
scoring:contextual-estimate     GET  login 403   403   403   403   200   200   404   login 403
scoring:contextual-estimate     POST 405
scoring:contextual-verdicts     GET  login 403   200   403   200   200   200   404   login 403
scoring:contextual-verdicts     POST 405
scoring:contextual-verdict-case GET  login 403   200   403   200   200   200   404   login 403
scoring:contextual-verdict-case POST login 403   409   403   409   409   409   404   login 403
scoring:contextual-verdict-image GET  login 403   200   403   200   200   200   404   login 403
scoring:contextual-verdict-image POST 405
scoring:contextual-set-people   GET  405
scoring:contextual-set-people   POST login 403   403   403   403   302   302   404   login 403
api:contextual-verdicts         GET  401   403   200   403   200   200   200   404   401   403
api:contextual-verdicts         POST 401   403   415   403   415   415   415   404   401   403
scoring:contextual-run          GET  login 200   403   200   200   200   200   404   200   200
scoring:contextual-run          POST 405
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
api:run-contextual              GET  401   200   403   200   200   200   200   404   200   200
api:run-contextual              POST 401   403   403   403   403   415   415   404   401   403
api:contextual-set-list         GET  401   200   403   200   200   200   200   404   200   200
api:contextual-set-list         POST 401   403   403   403   403   415   415   404   401   403
api:contextual-set-detail       GET  401   200   403   200   200   200   200   404   200   200
api:contextual-set-detail       POST 405
api:contextual-set-cases        GET  401   200   403   200   200   200   200   404   200   200
api:contextual-set-cases        POST 405
api:contextual-set-image        GET  401   200   403   200   200   200   200   404   200   200
api:contextual-set-image        POST 405
api:contextual-set-estimate     GET  401   403   403   403   403   200   200   404   401   403
api:contextual-set-estimate     POST 405
api:judge-list       GET  401   403   403   403   403   200   200   404   401   403
api:judge-list       POST 401   403   403   403   403   415   415   404   401   403
api:judge-detail     GET  401   403   403   403   403   200   200   404   401   403
api:judge-detail     POST 405
api:judge-try        GET  405
api:judge-try        POST 401   403   403   403   403   202   202   404   401   403
api:contextual-evaluation-list  GET  401   200   403   200   200   200   200   404   200   200
api:contextual-evaluation-list  POST 401   403   403   403   403   415   415   404   401   403
api:contextual-evaluation-detail GET  401   200   403   200   200   200   200   404   200   200
api:contextual-evaluation-detail POST 405
api:contextual-evaluation-cases GET  401   200   403   200   200   200   200   404   200   200
api:contextual-evaluation-cases POST 405
api:contextual-evaluation-cancel GET  405
api:contextual-evaluation-cancel POST 401   403   403   403   403   202   202   404   401   403
api:contextual-evaluation-retry GET  405
api:contextual-evaluation-retry POST 401   403   403   403   403   415   415   404   401   403
api:contextual-comparison       GET  401   400   403   400   400   400   400   404   400   400
api:contextual-comparison       POST 405
scoring:embedding-new           GET  login 403   403   200   403   200   200   404   login 403
scoring:embedding-new           POST login 403   403   422   403   422   422   404   login 403
scoring:freshness               GET  login 200   403   200   200   200   200   404   200   200
scoring:freshness               POST 405
scoring:freshness-csv           GET  login 200   403   200   200   200   200   404   200   200
scoring:freshness-csv           POST 405
scoring:planner                 GET  login 200   403   200   200   200   200   404   200   200
scoring:planner                 POST 405
scoring:planner-chart           GET  login 200   403   200   200   200   200   404   200   200
scoring:planner-chart           POST 405
scoring:reusability             GET  login 200   403   200   200   200   200   404   200   200
scoring:reusability             POST 405
scoring:reusability-chart       GET  login 200   403   200   200   200   200   404   200   200
scoring:reusability-chart       POST 405
scoring:run-top-up              GET  login 200   403   200   200   200   200   404   200   200
scoring:run-top-up              POST login 403   403   403   403   422   422   404   403   403
scoring:top-up-new              GET  login 200   403   200   200   200   200   404   200   200
scoring:top-up-new              POST login 403   403   403   403   200   200   404   403   403
scoring:reliability             GET  login 200   403   200   200   200   200   404   200   200
scoring:reliability             POST 405
scoring:probing-list            GET  login 403   403   403   403   200   200   404   login 403
scoring:probing-list            POST 405
scoring:probing-settle          GET  405
scoring:probing-settle          POST login 403   403   403   403   302   302   404   login 403
scoring:run-chart               GET  login 200   403   200   200   200   200   404   200   200
scoring:run-chart               POST 405
scoring:run-holes               GET  login 200   403   200   200   200   200   404   200   200
scoring:run-holes               POST 405
scoring:run-holes-csv           GET  login 200   403   200   200   200   200   404   200   200
scoring:run-holes-csv           POST 405
scoring:live-ask                GET  405
scoring:live-ask                POST login 403   403   403   403   422   422   404   login 403
scoring:live-delete             GET  405
scoring:live-delete             POST login 403   403   403   403   302   302   404   login 403
scoring:live-detail             GET  login 200   403   200   200   200   200   404   200   200
scoring:live-detail             POST 405
scoring:live-edit               GET  login 403   403   403   403   200   200   404   login 403
scoring:live-edit               POST login 403   403   403   403   422   422   404   login 403
scoring:live-list               GET  login 200   403   200   200   200   200   404   200   200
scoring:live-list               POST 405
scoring:live-new                GET  login 403   403   403   403   200   200   404   login 403
scoring:live-new                POST login 403   403   403   403   422   422   404   login 403
scoring:live-try                GET  405
scoring:live-try                POST login 403   403   403   403   422   422   404   login 403
scoring:run-latency             GET  login 200   403   200   200   200   200   404   200   200
scoring:run-latency             POST 405
scoring:run-latency-chart       GET  login 200   403   200   200   200   200   404   200   200
scoring:run-latency-chart       POST 405
scoring:moves                   GET  login 200   403   200   200   200   200   404   200   200
scoring:moves                   POST 405
scoring:moves-file              GET  login 200   403   200   200   200   200   404   200   200
scoring:moves-file              POST 405
scoring:rescoring               GET  login 200   403   200   200   200   200   404   200   200
scoring:rescoring               POST login 403   403   403   403   302   302   404   403   403
scoring:run-queries             GET  login 200   403   200   200   200   200   404   200   200
scoring:run-queries             POST 405
scoring:run-queries-csv         GET  login 200   403   200   200   200   200   404   200   200
scoring:run-queries-csv         POST 405
scoring:run-query               GET  login 200   403   200   200   200   200   404   200   200
scoring:run-query               POST 405
scoring:run-reading             GET  login 200   403   200   200   200   200   404   200   200
scoring:run-reading             POST 405
scoring:run-slices              GET  login 200   403   200   200   200   200   404   200   200
scoring:run-slices              POST 405
scoring:run-scores              GET  login 200   403   200   200   200   200   404   200   200
scoring:run-scores              POST 405
scoring:runs-score              GET  405
scoring:runs-score              POST login 403   403   403   403   302   302   404   login 403
scoring:slice-reach-chart       GET  login 200   403   200   200   200   200   404   200   200
scoring:slice-reach-chart       POST 405
scoring:phase-close             GET  405
scoring:phase-close             POST login 403   403   403   403   302   302   404   login 403
scoring:phase-detail            GET  login 403   403   200   403   200   200   404   login 403
scoring:phase-detail            POST 405
scoring:phase-edit              GET  login 403   403   403   403   200   200   404   login 403
scoring:phase-edit              POST login 403   403   403   403   422   422   404   login 403
scoring:phase-list              GET  login 403   403   200   403   200   200   404   login 403
scoring:phase-list              POST 405
scoring:phase-new               GET  login 403   403   403   403   200   200   404   login 403
scoring:phase-new               POST login 403   403   403   403   422   422   404   login 403
scoring:submission-detail       GET  login 403   403   200   403   200   200   404   login 403
scoring:submission-detail       POST 405
scoring:submission-list         GET  login 403   403   200   403   200   200   404   login 403
scoring:submission-list         POST 405
scoring:submission-leave-out    GET  405
scoring:submission-leave-out    POST login 403   403   302   403   302   302   404   login 403
scoring:submission-send-on      GET  405
scoring:submission-send-on      POST login 403   403   302   403   302   302   404   login 403
scoring:submission-new          GET  login 403   403   200   403   200   200   404   login 403
scoring:submission-new          POST login 403   403   422   403   422   422   404   login 403
scoring:submission-state        GET  login 403   403   200   403   200   200   404   login 403
scoring:submission-state        POST 405
scoring:run-withdraw            GET  405
scoring:run-withdraw            POST login 403   403   403   403   302   302   404   login 403
scoring:submission-withdraw     GET  405
scoring:submission-withdraw     POST login 403   403   302   403   302   302   404   login 403
sign-in                         GET  200
sign-in                         POST 200
provider-sign-in                GET  405
provider-sign-in                POST 404
provider-callback               GET  404
provider-callback               POST 405
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
slice-detail                    POST 405
slice-edit                      GET  login 403   403   403   403   200   200   404   login 403
slice-edit                      POST login 403   403   403   403   422   422   404   login 403
slice-import                    GET  login 403   403   403   403   200   200   404   login 403
slice-import                    POST login 403   403   403   403   422   422   404   login 403
slice-list                      GET  login 200   200   200   200   200   200   404   200   200
slice-list                      POST 405
slice-new                       GET  login 403   403   403   403   200   200   404   login 403
slice-new                       POST login 403   403   403   403   422   422   404   login 403
slice-preview                   GET  login 403   403   403   403   200   200   404   login 403
slice-preview                   POST 405
slice-refresh                   GET  405
slice-refresh                   POST login 403   403   403   403   302   302   404   login 403
slice-register                  GET  405
slice-register                  POST login 403   403   403   403   422   422   404   login 403
snapshot-discard                GET  405
snapshot-discard                POST login 403   403   403   403   302   302   404   login 403
snapshot-take                   GET  405
snapshot-take                   POST login 403   403   403   403   302   302   404   login 403
split-assignment                GET  login 200   200   200   200   200   200   404   200   200
split-assignment                POST 405
split-chart                     GET  login 200   200   200   200   200   200   404   200   200
split-chart                     POST 405
split-detail                    GET  login 200   200   200   200   200   200   404   200   200
split-detail                    POST login 403   403   403   403   422   422   404   login 403
split-hide                      GET  405
split-hide                      POST login 403   403   403   403   302   302   404   login 403
split-preview                   GET  login 403   403   403   403   200   200   404   login 403
split-preview                   POST 405
split-preview-chart             GET  login 403   403   403   403   200   200   404   login 403
split-preview-chart             POST 405
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
api:case-detail                 GET  401   403   403   403   400   400   400   404   401   403
api:case-detail                 POST 405
api:case-list                   GET  401   403   403   403   200   200   200   404   401   403
api:case-list                   POST 401   403   403   403   415   415   415   404   401   403
api:contamination-clean         GET  401   200   200   200   200   200   200   404   200   200
api:contamination-clean         POST 401   403   403   403   403   415   415   404   401   403
api:corpus-list                 GET  401   200   200   200   200   200   200   200   401   200
api:corpus-list                 POST 405
api:document-detail             GET  401   200   200   200   200   200   200   404   200   200
api:document-detail             POST 405
api:guideline-detail            GET  401   200   200   200   200   200   200   404   200   200
api:guideline-detail            POST 401   403   403   403   403   415   415   404   401   403
api:invitation-accept           GET  405
api:invitation-accept           POST 401   415   415   415   415   415   415   415   401   415
api:invitation-detail           GET  401   403   403   403   403   403   200   404   401   403
api:invitation-detail           POST 405
api:invitation-list             GET  401   403   403   403   403   403   200   404   401   403
api:invitation-list             POST 401   403   403   403   403   403   415   404   401   403
api:job-events                  GET  401   404   404   404   404   200   200   404   401   404
api:job-events                  POST 405
api:job-list                    GET  401   403   403   403   403   200   200   404   401   403
api:job-list                    POST 405
api:known-grade-detail          GET  401   403   403   403   403   200   200   404   401   403
api:known-grade-detail          POST 405
api:known-grade-list            GET  401   403   403   403   403   200   200   404   401   403
api:known-grade-list            POST 401   403   403   403   403   415   415   404   401   403
api:known-grade-settled         GET  401   403   403   403   403   200   200   404   401   403
api:known-grade-settled         POST 405
api:own-hours                   GET  401   200   200   200   200   200   200   200   401   200
api:own-hours                   POST 405
api:own-judgment                GET  401   404   200   404   404   404   404   404   401   404
api:own-judgment                POST 405
api:own-judgments               GET  401   200   200   200   200   200   200   200   401   200
api:own-judgments               POST 405
api:own-questions               GET  401   200   200   200   200   200   200   200   401   200
api:own-questions               POST 405
api:policy-detail               GET  401   403   403   403   403   200   200   404   401   403
api:policy-detail               POST 405
api:pool-exchange               GET  405
api:pool-exchange               POST 401   403   415   403   415   415   415   404   401   403
api:pool-release                GET  405
api:pool-release                POST 401   403   403   403   403   415   415   404   401   403
api:pool-simulations            GET  405
api:pool-simulations            POST 401   403   403   403   403   415   415   404   401   403
api:pool-start                  GET  401   403   200   403   200   200   200   404   401   403
api:pool-start                  POST 401   403   415   403   415   415   415   404   401   403
api:pool-stop                   GET  405
api:pool-stop                   POST 401   403   200   403   200   200   200   404   401   403
api:pool-waive                  GET  405
api:pool-waive                  POST 401   403   403   403   403   200   200   404   401   403
api:pools-to-judge              GET  401   200   200   200   200   200   200   200   401   200
api:pools-to-judge              POST 405
api:query-detail                GET  401   200   200   200   200   200   200   404   200   200
api:query-detail                POST 405
api:query-draw-queries          GET  401   403   403   403   403   200   200   404   401   403
api:query-draw-queries          POST 405
api:query-list                  GET  401   200   200   200   200   200   200   404   200   200
api:query-list                  POST 405
api:query-search                GET  401   403   403   403   409   409   409   404   401   403
api:query-search                POST 401   403   403   403   415   415   415   404   401   403
api:question-answer             GET  405
api:question-answer             POST 401   403   403   403   403   415   415   404   401   403
api:question-list               GET  401   403   403   403   403   200   200   404   401   403
api:question-list               POST 405
api:reliability                 GET  401   200   403   200   200   200   200   404   200   200
api:reliability                 POST 405
api:run-detail                  GET  401   200   403   200   200   200   200   404   200   200
api:run-detail                  POST 405
api:run-list                    GET  401   200   403   200   200   200   200   404   200   200
api:run-list                    POST 405
api:run-query                   GET  401   200   403   200   200   200   200   404   200   200
api:run-query                   POST 405
api:runs-score                  GET  405
api:runs-score                  POST 401   403   403   403   403   415   415   404   401   403
api:search                      GET  401   200   200   200   200   200   200   404   200   200
api:search                      POST 405
api:site-search                 GET  401   200   200   200   200   200   200   200   401   200
api:site-search                 POST 405
api:slice-coverage              GET  401   403   403   403   200   200   200   404   401   403
api:slice-coverage              POST 405
api:split-queries               GET  401   200   200   200   200   200   200   404   200   200
api:split-queries               POST 405
api:stale-list                  GET  401   403   403   403   403   200   200   404   401   403
api:stale-list                  POST 401   403   403   403   403   200   200   404   401   403
api:team-detail                 GET  401   404   404   404   404   404   200   404   401   404
api:team-detail                 POST 405
api:team-join                   GET  405
api:team-join                   POST 401   415   415   415   415   415   415   415   401   415
api:team-link                   GET  405
api:team-link                   POST 401   404   404   404   404   404   201   404   401   404
api:team-list                   GET  401   200   200   200   200   200   200   200   401   200
api:team-list                   POST 401   415   415   415   415   415   415   415   401   415
api:team-members                GET  405
api:team-members                POST 401   404   404   404   404   404   415   404   401   404
api:words-index                 GET  405
api:words-index                 POST 401   403   403   403   202   202   202   404   401   403
"""


def _rows() -> dict[tuple[str, str], list[str]]:
    lines = [line.split() for line in TABLE.strip().splitlines() if not line.startswith("#")]
    width = len(PEOPLE) + 2
    return {
        (name, method): expected * width if len(expected) == 1 else expected
        for name, method, *expected in lines
    }


ROWS = _rows()
POSTED = [name for name, how in ROWS if how == "POST" and {"405"} < {*ROWS[name, how], "405"}]
# The API answers in JSON, and asks who has a session alone: its tests are in api/test_access.py.
POSTED = [name for name in POSTED if not name.startswith("api:")]
# Mail programs post there without a cookie (RFC 8058): the signed link is what proves it.
POSTED.remove("mail-stop")
# Pictures: the browser keeps them, and asks each time whether it may show them.
ASKED_AGAIN = {
    name for name, how in ROWS if name.endswith("-chart") and not name.startswith("api:")
} | {
    "log-curve",
    "scoring:contextual-image",
    "scoring:contextual-verdict-image",
    "document-image",
    "document-thumbnail",
}
ADDRESSES = {address.name: address for address in worlds.addresses()}


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[World]:
    """Made once; each request is taken back, and all of it at the end."""
    folder = tmp_path_factory.mktemp("world")
    hasher = f"{MD5PasswordHasher.__module__}.{MD5PasswordHasher.__name__}"
    patched = pytest.MonkeyPatch()
    patched.setattr("benchmarks_app.jobs.services.jobs.send", lambda job: None)
    with (
        override_settings(MEDIA_ROOT=folder, STAGING_DIR=folder, PASSWORD_HASHERS=[hasher]),
        django_db_blocker.unblock(),
        transaction.atomic(),
    ):
        yield worlds.build(files=folder)
        transaction.set_rollback(True)
    patched.undo()


@pytest.fixture(autouse=True)
def in_the_world(world, folders, settings, db) -> None:
    """The files of the world are where the site looks for them."""
    settings.MEDIA_ROOT = world.files


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
    wanted = {(name, method) for name in ADDRESSES for method in ("GET", "POST")}

    assert wanted == set(ROWS)
    assert {len(expected) for expected in ROWS.values()} == {len(PEOPLE) + 2}


# Of the API, tests/test_api_access.py holds more.
TRIED = [
    pytest.param(*row, marks=pytest.mark.in_thirds) if row[0].startswith("api:") else row
    for row in ROWS
]


@pytest.mark.parametrize(("name", "method"), TRIED)
def test_answer_is_that_of_the_table(world, name, method):
    address, expected = ADDRESSES[name], ROWS[name, method]
    # A way of asking that an address does not know is refused before anybody is looked at.
    people = ("anonymous", "olga") if set(expected) == {"405"} else PEOPLE

    answers = [ask(world.client(who), method, address, world.arguments) for who in people]
    Benchmark.objects.filter(pk=world.benchmark.pk).update(visibility="public")
    answers += [ask(world.client(who), method, address, world.arguments) for who in PEOPLE[::7]]

    assert [told(answer) for answer in answers] == expected[-len(answers) :]
    for who, answer in zip([*people, *PEOPLE[::7]], answers, strict=True):
        assert_no_cache_keeps_it(name, who, answer)
        # The one page that may be framed: what it is told is in the test of it.
        if answer.status_code == 200 and name != "scoring:board-embed":
            assert_browser_is_told(answer)


# The same bytes for whoever asks: `scoring/boards/test_embedding.py`.
FOR_OTHER_SITES = {"scoring:board-embed", "scoring:board-badge", "scoring:board-badge-json"}


def assert_no_cache_keeps_it(name: str, who: str, response: HttpResponse) -> None:
    """What is somebody's own, and the API's, is stored by no browser or proxy on the way."""
    kept = response.get("Cache-Control", "")
    if name in ASKED_AGAIN and response.status_code == 200:
        assert kept == "private, no-cache"
    elif name in FOR_OTHER_SITES and response.status_code == 200:
        assert kept == "public, max-age=300"
    elif name == "chart-bundle" and response.status_code == 200:
        assert kept == "public, max-age=31536000, immutable"
    elif name.startswith(("api:", "api-schema")) and response.has_header("ETag"):
        assert kept == "private, no-cache"
    elif (
        who != "anonymous"
        or name.startswith(("api:", "api-docs", "api-schema"))
        or response.cookies
    ):
        assert {"private", "no-store"} <= set(kept.split(", ")), (name, who, kept)


# What pages read from the end of their address as a number, or as something that has one.
NUMBERED = (
    *("after", "against", "answer", "baseline", "change", "days", "depth", "exact", "family"),
    *("from", "job", "k", "limit", "list", "log", "page", "phase", "policy", "pool", "preview"),
    *("qrels", "release", "run", "runs", "shown", "version"),
)
PAGES = [name for name, method in ROWS if method == "GET" and ROWS[name, method][6] == "200"]


@pytest.mark.in_thirds
@pytest.mark.parametrize("name", [name for name in PAGES if not name.startswith("api:")])
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


@pytest.mark.parametrize("address", BY_NUMBER, ids=lambda address: address.name)
def test_number_of_another_benchmarks_object_is_not_found(world, address):
    method = "GET" if ROWS[address.name, "GET"][6] == "200" else "POST"
    mixed = {**world.foreign, "slug": world.benchmark.slug}

    assert told(ask(world.client("olga"), method, address, world.arguments)) in (
        "200",
        "202",
        "302",
        "415",
        "422",
    )
    assert told(ask(world.client("olga"), method, address, mixed)) == "404"


@pytest.mark.parametrize("address", BY_VERSION, ids=lambda address: address.name)
def test_version_of_another_benchmarks_release_is_not_found(world, address):
    method = "GET" if ROWS[address.name, "GET"][6] == "200" else "POST"
    mixed = {**world.arguments, "version": world.foreign["version"]}

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
