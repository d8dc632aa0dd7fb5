"""Addresses of the labeling page and of what belongs to an annotator."""

from django.urls import path

from annotation.views import exchange, judging, queue

in_benchmark = [
    path("judge/", judging.judge_benchmark, name="judge-benchmark"),
]
of_annotator = [
    path("", queue.queue, name="queue"),
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
]
