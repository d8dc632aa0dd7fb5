"""Addresses of submissions, scores and boards."""

from django.urls import include, path

from scoring.views import boards, reliability, runs, submissions

app_name = "scoring"
in_benchmark = [
    path("runs/submit/", submissions.submission_new, name="submission-new"),
    path("runs/submissions/", submissions.submission_list, name="submission-list"),
    path("runs/submissions/<int:pk>/", submissions.submission_detail, name="submission-detail"),
    path("runs/submissions/<int:pk>/state/", submissions.submission_state, name="submission-state"),
    path("runs/baselines/", runs.baselines_create, name="baselines-create"),
    path("runs/score/", runs.runs_score, name="runs-score"),
    path("runs/<int:pk>/scores/", runs.run_scores, name="run-scores"),
    path("runs/<int:pk>/queries/", runs.run_queries, name="run-queries"),
    path("leaderboard/", boards.leaderboard, name="leaderboard"),
    path("reliability/", reliability.reliability, name="reliability"),
    path(
        "slices/<str:slice_name>/visible.<str:format>",
        reliability.slice_reach_chart,
        name="slice-reach-chart",
    ),
    path("v/<str:version>/leaderboard/", boards.leaderboard_release, name="leaderboard-release"),
    path("v/<str:version>/leaderboard.csv", boards.leaderboard_csv, name="leaderboard-csv"),
]
urlpatterns = [path("b/<slug:slug>/", include(in_benchmark))]
