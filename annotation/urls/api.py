"""Addresses below /api/v1/, collected there by the name of this module."""

from django.urls import include, path

from annotation.agreement import api as agreement
from annotation.campaigns import api as campaigns
from annotation.contradictions import api as contradictions
from annotation.estimates import api as estimates
from annotation.guidelines import api as guidelines
from annotation.judging.api import exchange, own_work
from annotation.labels.api import judgments, pool_labels, qrels
from annotation.pools import api as pools
from annotation.queueing import api as queueing
from annotation.searching import api as searching
from annotation.sparing import api as sparing

of_benchmark = [
    *campaigns.of_benchmark,
    *contradictions.of_benchmark,
    *estimates.of_benchmark,
    *agreement.of_benchmark,
    *guidelines.of_benchmark,
    *exchange.of_benchmark,
    *pool_labels.of_benchmark,
    *searching.of_benchmark,
    *sparing.of_benchmark,
    *queueing.of_benchmark,
    path("pools/", pools.PoolList.as_view(), name="pool-list"),
    path("pools/<int:pk>/", pools.PoolDetail.as_view(), name="pool-detail"),
    path("pools/simulations/", pools.PoolSimulations.as_view(), name="pool-simulations"),
    path("pools/<int:pk>/release/", pools.PoolRelease.as_view(), name="pool-release"),
    path("pools/<int:pk>/waive/", pools.PoolWaive.as_view(), name="pool-waive"),
    path("pools/<int:pk>/people/", pools.PoolPeople.as_view(), name="pool-people"),
    path("pools/<int:pk>/report/", pools.PoolReport.as_view(), name="pool-report"),
    path("candidates/", pools.CandidatesList.as_view(), name="candidates-list"),
    path("qrels/", qrels.QrelsList.as_view(), name="qrels-list"),
    path("judgments/", judgments.JudgmentsExport.as_view(), name="judgments-export"),
    path("judgments/import/", judgments.JudgmentsImport.as_view(), name="judgments-import"),
    path("pair/", judgments.PairDetail.as_view(), name="pair-detail"),
]
urlpatterns = [
    *exchange.urlpatterns,
    *own_work.urlpatterns,
    path("benchmarks/<slug:slug>/", include(of_benchmark)),
]
