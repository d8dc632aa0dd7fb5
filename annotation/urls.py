"""Addresses of pools and judging."""

from django.urls import include, path

from annotation.views import judging, pools

app_name = "annotation"
in_benchmark = [
    path("pools/", pools.pool_list, name="pool-list"),
    path("pools/new/", pools.pool_new, name="pool-new"),
    path("pools/<int:pk>/", pools.pool_detail, name="pool-detail"),
    path("pools/<int:pk>/progress/", pools.pool_progress, name="pool-progress"),
    path("pools/<int:pk>/state/", pools.pool_state, name="pool-state"),
    path("pools/qrels/", pools.qrels_publish, name="qrels-publish"),
    path("judge/", judging.judge_benchmark, name="judge-benchmark"),
]
urlpatterns = [
    path("b/<slug:slug>/", include(in_benchmark)),
    path("judge/", judging.queue, name="queue"),
    path("judge/<int:pk>/", judging.judge, name="judge"),
    path("judge/<int:pk>/grade/", judging.judgment_create, name="judgment-create"),
    path("judge/<int:pk>/cant-judge/", judging.cant_judge_create, name="cant-judge-create"),
    path("judge/<int:pk>/undo/", judging.judgment_undo, name="judgment-undo"),
    path("judge/<int:pk>/stop/", judging.judge_stop, name="stop"),
]
