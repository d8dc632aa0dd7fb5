"""What can go wrong with webhooks, and with choosing mails.

BenchmarkError
├── WebhookAddressError   an address that nothing is sent to
├── ManyWebhooksError     more webhooks than a benchmark may have
├── WebhookOffError       a notice for a webhook that is switched off
├── WebhookSecretError    a secret that cannot be opened any more
└── StopLinkError         a link out of a mail that stops none
"""

from benchwright.errors import BenchmarkError


class WebhookAddressError(BenchmarkError):
    code = "webhook-address"
    message = "{address}: {why}. {advice}"


class ManyWebhooksError(BenchmarkError):
    code = "many-webhooks"
    status = 409
    message = "A benchmark has at most {most} webhooks. Delete one that is not needed."


class WebhookOffError(BenchmarkError):
    code = "webhook-off"
    status = 409
    message = "This webhook is off: {why}. Switch it on first."


class WebhookSecretError(BenchmarkError):
    code = "webhook-secret"
    status = 409
    message = (
        "The secret of {address} cannot be opened, for the site's SECRET_KEY has changed since it "
        "was made. Renew the secret."
    )


class StopLinkError(BenchmarkError):
    code = "stop-link"
    heading = "This link does not work"
    status = 410
    message = "It is not whole, or of another site. Your account's page says which mails you get."
