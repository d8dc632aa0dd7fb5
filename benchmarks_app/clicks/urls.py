"""Where a log of clicks is sent to."""

from django.urls import path

from benchmarks_app.clicks import views

in_benchmark = [path("qrels/clicks/", views.click_qrels_new, name="click-qrels-new")]
