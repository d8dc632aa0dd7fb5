"""Addresses of machine judges: campaigns on pools."""

from django.urls import path

from annotation.campaigns import views

CAMPAIGN = "machine-judges/<int:pk>/"
in_benchmark = [
    path("machine-judges/", views.campaign_list, name="campaign-list"),
    path("machine-judges/new/", views.campaign_new, name="campaign-new"),
    path("machine-judges/estimate/", views.campaign_estimate, name="campaign-estimate"),
    path(CAMPAIGN, views.campaign_detail, name="campaign-detail"),
    path(f"{CAMPAIGN}calibration/", views.campaign_calibration, name="campaign-calibration"),
    path(f"{CAMPAIGN}progress/", views.campaign_progress, name="campaign-progress"),
    path(f"{CAMPAIGN}start/", views.campaign_start, name="campaign-start"),
    path(f"{CAMPAIGN}pause/", views.campaign_pause, name="campaign-pause"),
    path(f"{CAMPAIGN}cancel/", views.campaign_cancel, name="campaign-cancel"),
    path(f"{CAMPAIGN}try/", views.campaign_try, name="campaign-try"),
    path(f"{CAMPAIGN}publish/", views.campaign_publish, name="campaign-publish"),
    path(f"{CAMPAIGN}delete/", views.campaign_delete, name="campaign-delete"),
]
