"""The doorway of the management API: a key before anything else, and its hourly allowance."""

from django.http import HttpRequest
from django.utils import timezone

from accounts.authentication import Unauthorized, identify
from accounts.keyring import ring
from config.api.limits import Allowance, Doorway, Entry, address_bucket, ip_of

HOUR_S = 3600
# Seed 000, "Limits": 1000 requests per hour per API key.
WITHOUT_KEY = 1000


class ManagementDoorway(Doorway):
    """401 comes before 404 and 429: a call without a valid key is told so, whatever it asks for and how often."""

    prefix = "/api"
    policy = "mgmt"

    def enter(self, request: HttpRequest) -> Entry:
        """Find the key. Rotation gives no fresh allowance: the count is of the key's family."""
        now = timezone.now()
        try:
            key = identify(request, now=now)
        except Unauthorized as refusal:
            return Entry(self.unknown(request), refusal)
        ring.used(key, now=now, address=ip_of(request))
        request.api_key = key  # type: ignore[attr-defined]
        return Entry(Allowance(bucket=key.family.hex, limit=key.allowance, window_s=HOUR_S))

    def unknown(self, request: HttpRequest) -> Allowance:
        """The rate headers of a caller without a key count the address."""
        return Allowance(bucket=address_bucket(request), limit=WITHOUT_KEY, window_s=HOUR_S)
