"""The product with little patience, as a WSGI application: what hangs is given up in a second, so that many faults fit
into a test. Nothing else is different."""

import httpx

from config.wsgi import application
from payments.x402 import facilitator_client
from tests.payments.short_timeouts import PATIENCE_S

__all__ = ["application"]

facilitator_client.TIMEOUT = httpx.Timeout(PATIENCE_S)
facilitator_client.TOTAL_S = PATIENCE_S
facilitator_client.REST_S = 0.2
