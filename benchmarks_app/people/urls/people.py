"""Addresses of people: of a benchmark, and of the site."""

from django.urls import path

from benchmarks_app.people.views import people, site_people

in_benchmark = [
    path("people/", people.people_list, name="people-list"),
    path("people/invite/", people.invitation_create, name="invitation-create"),
    path("people/invitations/<int:pk>/revoke/", people.invitation_revoke, name="invitation-revoke"),
    path("people/<int:pk>/role/", people.member_role, name="member-role"),
    path("people/<int:pk>/blindness/", people.member_blindness, name="member-blindness"),
    path("people/<int:pk>/remove/", people.member_remove, name="member-remove"),
]
urlpatterns = [
    path("system/people/", site_people.person_list, name="person-list"),
    path("system/people/<int:pk>/delete/", site_people.person_delete, name="person-delete"),
    path("system/people/<int:pk>/export/", site_people.person_export, name="person-export"),
    path("join/<str:secret>/", people.invitation_accept, name="invitation-accept"),
    path("account/export/", site_people.account_export, name="account-export"),
    path("account/delete/", site_people.account_delete, name="account-delete"),
]
