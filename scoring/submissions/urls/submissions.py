"""Addresses of submissions."""

from django.urls import path

from scoring.submissions.views import probing, submissions

in_benchmark = [
    path("runs/submit/", submissions.submission_new, name="submission-new"),
    path("runs/submissions/", submissions.submission_list, name="submission-list"),
    path("runs/submissions/<int:pk>/", submissions.submission_detail, name="submission-detail"),
    path("runs/submissions/<int:pk>/state/", submissions.submission_state, name="submission-state"),
    path(
        "runs/submissions/<int:pk>/withdraw/",
        submissions.submission_withdraw,
        name="submission-withdraw",
    ),
    path(
        "runs/submissions/<int:pk>/leave-out/",
        submissions.submission_leave_out,
        name="submission-leave-out",
    ),
    path(
        "runs/submissions/<int:pk>/send-on/",
        submissions.submission_send_on,
        name="submission-send-on",
    ),
    path("runs/<int:pk>/withdraw/", submissions.run_withdraw, name="run-withdraw"),
    path("runs/probing/", probing.probing_list, name="probing-list"),
    path("runs/probing/<int:pk>/settle/", probing.probing_settle, name="probing-settle"),
]
