"""The address of a queue's order, below its pool's."""

from django.urls import path

from annotation.queueing import views

in_benchmark = [path("pools/<int:pk>/queue/", views.pool_queue, name="pool-queue")]
