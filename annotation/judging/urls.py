"""Addresses of the labeling page and of what belongs to an annotator."""

from django.urls import path

from annotation.judging.views import exchange, judging, own_work, starting

in_benchmark = [
    path("judge/", judging.judge_benchmark, name="judge-benchmark"),
]
of_annotator = [
    path("", starting.queue, name="queue"),
    path("keys/", judging.judge_keys, name="judge-keys"),
    path("session/", judging.judge_session, name="judge-session"),
    path("<int:pk>/", judging.judge, name="judge"),
    path("<int:pk>/exchange/", exchange.judge_exchange, name="judge-exchange"),
    path("<int:pk>/grade/", judging.judgment_create, name="judgment-create"),
    path("<int:pk>/cant-judge/", judging.cant_judge_create, name="cant-judge-create"),
    path("<int:pk>/undo/", judging.judgment_undo, name="judgment-undo"),
    path("<int:pk>/later/", judging.judge_later, name="judge-later"),
    path("<int:pk>/ask/", judging.judge_ask, name="judge-ask"),
    path("<int:pk>/stop/", judging.judge_stop, name="stop"),
    path("<int:pk>/start/", starting.start, name="start"),
    path("practice/<int:pk>/", starting.practice, name="practice"),
    path("mine/", own_work.my_judgment_list, name="my-judgment-list"),
    path("mine/<int:pk>/", own_work.my_judgment_detail, name="my-judgment-detail"),
    path("hours/", own_work.my_hours, name="my-hours"),
    path("hours.csv", own_work.my_hours_csv, name="my-hours-csv"),
]
