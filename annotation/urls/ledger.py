"""Addresses of the ledger: single pairs, exports, labels from outside."""

from django.urls import path

from annotation.views import ledger

in_benchmark = [
    path("judgments/", ledger.judgment_list, name="judgment-list"),
    path("judgments/export/", ledger.judgments_export, name="judgments-export"),
    path("judgments/import/", ledger.judgments_import, name="judgments-import"),
    path("pairs/<int:pk>/<path:docid>/", ledger.pair_detail, name="pair-detail"),
    path("pools/<int:pk>/stale/", ledger.stale_list, name="stale-list"),
    path("pools/<int:pk>/stale/offer/", ledger.stale_offer, name="stale-offer"),
]
