"""The product with little patience, as a WSGI application: what hangs is given up in a second, so that many faults fit
into a test. Nothing else is different."""

import httpx

from config.wsgi import application
from payments import facilitator
from tests.payments.hurry import PATIENCE_S

__all__ = ["application"]

facilitator.TIMEOUT = httpx.Timeout(PATIENCE_S)
facilitator.TOTAL_S = PATIENCE_S
facilitator.REST_S = 0.2
