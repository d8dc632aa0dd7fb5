"""Second factors of one's own account, and where they are asked for."""

from django.urls import path

from benchmarks_app.people.views import factors

urlpatterns = [
    path("sign-in/second/", factors.sign_in_second, name="sign-in-second"),
    path("account/factors/", factors.factor_list, name="factor-list"),
    path("account/factors/app/", factors.totp_create, name="totp-create"),
    path("account/factors/key/", factors.security_key_create, name="security-key-create"),
    path("account/factors/codes/", factors.recovery_codes_create, name="recovery-codes-create"),
    path("account/factors/<int:pk>/remove/", factors.factor_remove, name="factor-remove"),
]
