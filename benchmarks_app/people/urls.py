"""Addresses of people, of teams, of one's own account and its second factors."""

from django.urls import path

from benchmarks_app.people.views import account, factors, people, site_people, teams

in_benchmark = [
    path("people/", people.people_list, name="people-list"),
    path("people/invite/", people.invitation_create, name="invitation-create"),
    path("people/invitations/<int:pk>/revoke/", people.invitation_revoke, name="invitation-revoke"),
    path("people/<int:pk>/role/", people.member_role, name="member-role"),
    path("people/<int:pk>/blindness/", people.member_blindness, name="member-blindness"),
    path("people/<int:pk>/remove/", people.member_remove, name="member-remove"),
]
urlpatterns = [
    path("account/", account.account_detail, name="account-detail"),
    path("account/address/", account.AddressLink.as_view(), name="address-link"),
    path("account/address/<str:token>/", account.AddressVerify.as_view(), name="address-verify"),
    path("account/tokens/", account.api_token_create, name="api-token-create"),
    path("account/tokens/<int:pk>/revoke/", account.api_token_revoke, name="api-token-revoke"),
    path("sign-in/", account.SignIn.as_view(), name="sign-in"),
    path("sign-out/", account.SignOut.as_view(), name="sign-out"),
    path("password/change/", account.PasswordChange.as_view(), name="password-change"),
    path("password/reset/", account.PasswordReset.as_view(), name="password-reset"),
    path("password/reset/sent/", account.PasswordResetSent.as_view(), name="password-reset-sent"),
    path(
        "password/reset/<uidb64>/<token>/",
        account.PasswordResetConfirm.as_view(),
        name="password-reset-confirm",
    ),
    path("sign-in/second/", factors.sign_in_second, name="sign-in-second"),
    path("account/factors/", factors.factor_list, name="factor-list"),
    path("account/factors/app/", factors.totp_create, name="totp-create"),
    path("account/factors/key/", factors.security_key_create, name="security-key-create"),
    path("account/factors/codes/", factors.recovery_codes_create, name="recovery-codes-create"),
    path("account/factors/<int:pk>/remove/", factors.factor_remove, name="factor-remove"),
    path("system/people/", site_people.person_list, name="person-list"),
    path("system/people/<int:pk>/delete/", site_people.person_delete, name="person-delete"),
    path("system/people/<int:pk>/export/", site_people.person_export, name="person-export"),
    path("join/<str:secret>/", people.invitation_accept, name="invitation-accept"),
    path("account/export/", site_people.account_export, name="account-export"),
    path("account/delete/", site_people.account_delete, name="account-delete"),
    path("teams/", teams.team_list, name="team-list"),
    path("teams/<int:pk>/", teams.team_detail, name="team-detail"),
    path("teams/<int:pk>/add/", teams.team_add, name="team-add"),
    path("teams/<int:pk>/link/", teams.team_link, name="team-link"),
    path("teams/<int:pk>/leave/", teams.team_leave, name="team-leave"),
    path("teams/join/<str:ticket>/", teams.team_join, name="team-join"),
]
