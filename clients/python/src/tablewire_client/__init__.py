"""Client of the Tablewire APIs: orders and reservations of a venue, and restaurant data.

`management` and `data` are generated from the two OpenAPI documents: a module for each operation in `api`, and a class
for each record in `models`. The clients made here send their requests, with retries, payments and typed errors.
"""

from tablewire_client.clients import DataClient, ManagementClient, data_client, management_client
from tablewire_client.errors import ApiError, PaymentNotMade
from tablewire_client.pagination import iterate, iterate_async, iterate_pages, iterate_pages_async
from tablewire_client.payment import Payer
from tablewire_client.retries import Retries
from tablewire_client.webhooks import Event, WebhookVerificationError, verify_webhook

__all__ = [
    "ApiError",
    "DataClient",
    "Event",
    "ManagementClient",
    "Payer",
    "PaymentNotMade",
    "Retries",
    "WebhookVerificationError",
    "data_client",
    "iterate",
    "iterate_async",
    "iterate_pages",
    "iterate_pages_async",
    "management_client",
    "verify_webhook",
]
