"""Addresses of one's own account: signing in and out, passwords, addresses, tokens."""

from django.urls import path

from benchmarks_app.people.views import account

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
]
