"""Addresses of the ledger: single pairs, exports, labels from outside; the qrels that follow."""

from django.urls import path

from annotation.labels.views import known_grades, ledger

in_benchmark = [
    path("judgments/", ledger.judgment_list, name="judgment-list"),
    path("judgments/export/", ledger.judgments_export, name="judgments-export"),
    path("judgments/import/", ledger.judgments_import, name="judgments-import"),
    path("pairs/<int:pk>/<path:docid>/", ledger.pair_detail, name="pair-detail"),
    path("qrels/publish/", ledger.qrels_publish, name="qrels-publish"),
    path("pools/<int:pk>/stale/", ledger.stale_list, name="stale-list"),
    path("pools/<int:pk>/stale/offer/", ledger.stale_offer, name="stale-offer"),
    path("pools/<int:pk>/known/", known_grades.known_grade_list, name="known-grade-list"),
    path(
        "pools/<int:pk>/known/import/", known_grades.known_grade_import, name="known-grade-import"
    ),
    path(
        "pools/<int:pk>/known/settled/",
        known_grades.known_grade_settled,
        name="known-grade-settled",
    ),
    path("pools/<int:pk>/known/share/", known_grades.known_grade_share, name="known-grade-share"),
    path("known/<int:pk>/remove/", known_grades.known_grade_remove, name="known-grade-remove"),
]
