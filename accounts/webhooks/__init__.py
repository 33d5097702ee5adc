"""Webhooks: deliveries of events to URLs of customers.

`outbox` stores events with their deliveries, `endpoints` manages the URLs, `delivery_queue` leases and reschedules
deliveries, `deliveries` lists them, `dispatcher` sends them concurrently, `http_client` renders and signs requests,
`signing_secrets` encrypts the secrets, `ssrf_guard` restricts the addresses, `auto_disable` disables failing
endpoints, `listener` forwards events to a laptop, `openapi` documents the webhooks.
"""
