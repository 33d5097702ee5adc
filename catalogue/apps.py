"""The catalogue app, and its entries in the registries of lower layers."""

from django.apps import AppConfig
from django.core import checks


class CatalogueConfig(AppConfig):
    name = "catalogue"

    def ready(self) -> None:
        from accounts import sandbox_clock
        from accounts.lifecycle import closure
        from catalogue import consistency_checks
        from catalogue.bookings import deposits, venues
        from catalogue.claims import commands as claims
        from catalogue.insights.providers.registry import check_provider
        from catalogue.offers.booking import erase_contacts
        from catalogue.order_payments import payment as order_payment
        from framework import consistency
        from orders import commands as orders
        from reservations.booking import terms
        from reservations.guests import erasure

        checks.register(check_provider)
        consistency.SOURCES.append(consistency_checks.run_checks)
        erasure.ERASERS += [erase_contacts, deposits.erase_refund_requests]
        # Before the orders lose the contacts by which they are found.
        erasure.CONTACT_ERASERS.insert(0, order_payment.erase_refund_requests)
        sandbox_clock.GUARDS.append(venues.refuse_clock)
        closure.GUARDS += [deposits.find_closure_blocker, order_payment.find_closure_blocker]
        closure.ENDERS.append(claims.end_claims_of_account)
        terms.RETURN_DEPOSIT.append(deposits.give_back)
        terms.HOLD_DEPOSIT_AGAIN.append(deposits.hold_again)
        orders.REFUND_PAYMENT.append(order_payment.give_back)
