"""Addresses below /api/v1/, collected there by the name of this module."""

from django.urls import include, path

from annotation.agreement import api as agreement
from annotation.campaigns import api as campaigns
from annotation.contradictions import api as contradictions
from annotation.estimates import api as estimates
from annotation.judging import api as candidates
from annotation.labels.api import judgments, qrels
from annotation.pools import api as pools
from annotation.sparing import api as sparing

of_benchmark = [
    *campaigns.of_benchmark,
    *contradictions.of_benchmark,
    *estimates.of_benchmark,
    *sparing.of_benchmark,
    path("pools/", pools.PoolList.as_view(), name="pool-list"),
    path("pools/<int:pk>/", pools.PoolDetail.as_view(), name="pool-detail"),
    path("pools/<int:pk>/people/", pools.PoolPeople.as_view(), name="pool-people"),
    path("pools/<int:pk>/report/", pools.PoolReport.as_view(), name="pool-report"),
    path("candidates/", candidates.CandidatesList.as_view(), name="candidates-list"),
    path("qrels/", qrels.QrelsList.as_view(), name="qrels-list"),
    path("judgments/", judgments.JudgmentsExport.as_view(), name="judgments-export"),
    path("judgments/import/", judgments.JudgmentsImport.as_view(), name="judgments-import"),
    path("agreement/", agreement.AgreementDetail.as_view(), name="agreement-detail"),
    path("pair/", judgments.PairDetail.as_view(), name="pair-detail"),
]
urlpatterns = [path("benchmarks/<slug:slug>/", include(of_benchmark))]
