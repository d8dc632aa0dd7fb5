"""Addresses of policies and gates."""

from django.urls import path

from scoring.gates.views import gates, policies

in_benchmark = [
    path("gates/", gates.gate_list, name="gate-list"),
    path("gates/policies/new/", policies.policy_new, name="policy-new"),
    path("gates/policies/<int:pk>/", policies.policy_detail, name="policy-detail"),
    path("gates/policies/<int:pk>/retire/", policies.policy_retire, name="policy-retire"),
    path("gates/rehearsals/<int:pk>/", policies.rehearsal_detail, name="rehearsal-detail"),
    path("gates/rehearsals/<int:pk>/state/", policies.rehearsal_state, name="rehearsal-state"),
    path("gates/<int:pk>/", gates.gate_detail, name="gate-detail"),
    path("gates/<int:pk>/state/", gates.gate_state, name="gate-state"),
    path("gates/<int:pk>/report.<slug:kind>", gates.gate_report, name="gate-report"),
    path("gates/<int:pk>/differences.<slug:format>", gates.gate_chart, name="gate-chart"),
    path("gates/<int:pk>/online/", gates.gate_online, name="gate-online"),
    path("gates/<int:pk>/online/log/", gates.gate_online_log, name="gate-online-log"),
]
