"""docs/limits.md has every limit, as the code has it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from accounts import mail_outbox
from accounts.api_keys import rate_limit as management
from accounts.dashboard import consent
from accounts.models import ApiKey
from accounts.oauth import client_documents, registration
from accounts.oauth import views as oauth
from accounts.tenancy import team
from accounts.webhooks import address_limit
from catalogue.claims import commands as claims
from catalogue.exports.requests import checkout as exports
from catalogue.mcp.middleware import LARGE, MESSAGES
from catalogue.moderation import reports
from catalogue.offers import booking
from catalogue.order_payments import page as order_payment_page
from catalogue.order_payments import payment as order_payments
from catalogue.ucp import negotiation
from catalogue.ucp import views as ucp
from framework.api.rate_limits.middleware import HOUR_S, SHARED_SUFFIX
from orders.ordering_page import online_orders
from payments import rate_limits as data
from payments.tiers.definitions import TIERS
from payments.x402 import quotes
from reservations.api import holds
from reservations.booking_page import online_booking

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/limits.md").read_text()
APPS = ("accounts", "catalogue", "config", "framework", "orders", "payments", "reservations")
WINDOWS = {"minute": 60, "20 minutes": 1200, "hour": HOUR_S, "day": mail_outbox.DAY_S}
# The calls that count, with the prefix of their policies.
COUNTERS = {
    "count": "",
    "count_call": "",
    "count_beside": "",
    "count_within_an_hour": "",
    "successes_within_an_hour": "",
    "FixedLimit": "",
    "is_within_limit": "mail-",
}


def rows() -> dict[str, tuple[list[int], int]]:
    """The numbers and the seconds of the window of each policy in the table."""
    found = {}
    for line in GUIDE.splitlines():
        if match := re.match(r"\| `([\w-]+)` \|", line):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            found[match[1]] = ([int(number) for number in re.findall(r"\d+", cells[3])], WINDOWS[cells[4]])
    return found


def allauth(action: str) -> list[int]:
    return [int(rate.partition("/")[0]) for rate in settings.ACCOUNT_RATE_LIMITS[action].split(",")]


def test_the_table_has_the_numbers_of_the_code() -> None:
    tiers = [tier.per_minute for tier in TIERS.values()]
    bookings = [data.BOOKINGS.limit, data.MAX_BOOKINGS_OF_KNOWN]
    fixed = [*data.FIXED_LIMITS.values(), data.PAGES, data.SITEMAP_FILES, MESSAGES, LARGE]
    assert rows() == {
        **{limit.policy: ([limit.limit], limit.window_s) for limit in fixed},
        "bookings": (bookings, data.BOOKINGS.window_s),
        "reports": ([data.POLICIES["reports"].limit, reports.MAX_PER_DAY, 24], 60),
        "mgmt": ([ApiKey._meta.get_field("allowance").default], management.HOUR_S),
        "mgmt-unchanged": ([], management.HOUR_S),
        "data": (tiers, data.MINUTE_S),
        "data-unchanged": ([data.MAX_UNCHANGED], data.MINUTE_S),
        "challenges": ([data.MAX_CHALLENGES], data.MINUTE_S),
        "holds": ([holds.MAX_AN_HOUR], HOUR_S),
        "bookings-contact": ([booking.MAX_ATTEMPTS], HOUR_S),
        "free-exports": ([exports.MAX_FREE_PER_HOUR], HOUR_S),
        "quotes": ([quotes.MAX_QUOTES_PER_CALLER], quotes.LIFETIME.total_seconds()),
        "order-payment": ([order_payments.MAX_PER_HOUR], HOUR_S),
        "order-payment-prices": ([order_payment_page.MAX_PRICES_PER_MINUTE], order_payment_page.MINUTE_S),
        "oauth-token": ([oauth.MAX_REQUESTS], oauth.WINDOW_S),
        "oauth-register": ([registration.MAX_REGISTRATIONS], HOUR_S),
        "oauth-authorize": ([consent.MAX_REQUESTS], consent.WINDOW_S),
        "oauth-documents-by-caller": ([client_documents.MAX_READS], 60),
        "ordering-page": ([online_orders.MAX_PER_HOUR], HOUR_S),
        "ordering-page-attempts": ([online_orders.MAX_ATTEMPTS_PER_HOUR], HOUR_S),
        "ucp-calls": ([ucp.MAX_CALLS_PER_HOUR], HOUR_S),
        "ucp-sessions": ([ucp.MAX_SESSIONS_PER_HOUR], HOUR_S),
        "ucp-profiles-by-caller": ([negotiation.MAX_READS], 60),
        **{action: (allauth(action), 60) for action in ("signup", "reset_password", "manage_email")},
        "mail-account": ([mail_outbox.MAX_ACCOUNT_MAILS], mail_outbox.DAY_S),
        "mail-invitations-of-account": ([team.MAX_MAILS_OF_ACCOUNT], mail_outbox.DAY_S),
        "mail-invitations-to-address": ([team.MAX_MAILS_TO_ADDRESS], mail_outbox.DAY_S),
        "mail-claims": ([claims.MAX_CLAIMS_OF_ACCOUNT], mail_outbox.DAY_S),
        "mail-claims-of-account": ([claims.MAX_CODES_OF_ACCOUNT], mail_outbox.DAY_S),
        "mail-claims-of-restaurant": ([claims.MAX_CODES_OF_RESTAURANT], mail_outbox.DAY_S),
        "booking-page": ([online_booking.MAX_PER_DAY], mail_outbox.DAY_S),
        "webhooks": ([settings.WEBHOOK_ADDRESS_LIMIT], address_limit.WINDOW_S),
    }


def test_the_limits_of_free_callers_at_one_address_are_those_of_the_code() -> None:
    of_data, of_bookings = 10 * TIERS["free"].per_minute, 10 * data.BOOKINGS.limit
    assert data.FREE_CALLERS_FACTOR == 10
    assert SHARED_SUFFIX == "-shared"
    assert f"`data-shared` {of_data} a minute, `bookings-shared` {of_bookings} an hour" in " ".join(GUIDE.split())


def list_counted() -> Iterator[str]:
    """The policies that are written where something is counted, as text or as the name of a text above."""
    for app in APPS:
        for path in (ROOT / app).rglob("*.py"):
            tree = ast.parse(path.read_text())
            texts = {
                target.id: node.value.value
                for node in tree.body
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
                for target in node.targets
                if isinstance(target, ast.Name)
            }
            for call in ast.walk(tree):
                if not isinstance(call, ast.Call):
                    continue
                name = getattr(call.func, "attr", getattr(call.func, "id", ""))
                if name == "count" and ast.unparse(call.func) != "counter.count":
                    continue
                given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "policy")]
                for argument in given if name in COUNTERS else ():
                    text = argument.value if isinstance(argument, ast.Constant) else None
                    text = texts.get(argument.id) if isinstance(argument, ast.Name) else text
                    if isinstance(text, str):
                        yield COUNTERS[name] + text


def test_whatever_is_counted_is_in_the_table() -> None:
    counted = set(list_counted())
    assert {"oauth-token", "holds", "mail-account", "challenges", "mgmt-unchanged"} <= counted
    assert counted - set(rows()) == set()
