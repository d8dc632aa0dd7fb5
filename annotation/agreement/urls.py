"""Addresses of agreement and adjudication."""

from django.urls import path

from annotation.agreement.views import adjudicating, agreement

in_benchmark = [
    path("adjudicate/", adjudicating.adjudicate, name="adjudicate"),
    path("adjudicate/<int:pk>/<path:docid>/", adjudicating.adjudicate_item, name="adjudicate-item"),
    path("agreement/", agreement.agreement, name="agreement"),
    path("agreement/compute/", agreement.agreement_compute, name="agreement-compute"),
    path("qrels/policy/", adjudicating.policy_edit, name="policy-edit"),
]
