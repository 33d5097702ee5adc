"""The mutants: what is replaced where, and by which test that is caught."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One exact replacement of text in one file, and the test that fails by it."""

    name: str
    path: str
    before: str
    after: str
    test: str

    def applied(self, tree: Path) -> str:
        """The file in this tree with the replacement. Raises ValueError where it does not fit exactly once."""
        text = (tree / self.path).read_text()
        if text.count(self.before) != 1:
            raise ValueError(
                f"{self.name}: this stands {text.count(self.before)} times in {self.path}: {self.before!r}"
            )
        return text.replace(self.before, self.after)


MUTANTS = (
    Mutant(
        name="owner filter off",
        path="orders/order_json.py",
        before="WHERE id = %(id)s AND venue_id = %(venue)s",
        after="WHERE id = %(id)s AND %(venue)s::uuid IS NOT NULL",
        test="tests/contract/test_ownership.py::test_a_record_of_another_venue_answers_like_one_that_never_was",
    ),
    Mutant(
        name="final states off",
        path="orders/models/orders.py",
        before="order = Order.objects.filter(pk=self.pk, status=self.Status.PENDING)",
        after="order = Order.objects.filter(pk=self.pk)",
        test="tests/orders/api/test_orders_api.py::test_a_final_status_is_final",
    ),
    Mutant(
        name="nonce unique off",
        path="payments/migrations/0001_initial.py",
        before='models.UniqueConstraint(fields=("network", "proof_key"), name="a_proof_pays_once"),',
        after="",
        test="tests/payments/checkout/test_paid_calls.py::test_twenty_copies_at_once_are_charged_once",
    ),
    Mutant(
        name="exclusion off",
        path="reservations/migrations/0001_initial.py",
        before="""                    django.contrib.postgres.constraints.ExclusionConstraint(
                        expressions=[("table", "="), ("during", "&&")], name="seating_no_table_overlap"
                    ),""",
        after="""                    models.CheckConstraint(
                        condition=models.Q(("during__isempty", False)), name="seating_no_table_overlap"
                    ),""",
        test="tests/reservations/booking/test_table_assignment.py::test_of_200_concurrent_bookings_of_the_last_table_one_succeeds",
    ),
    Mutant(
        name="fail-open off",
        path="framework/api/rate_limits/valkey_backend.py",
        before="""            self.breaker.record_failure(error)
            return False
        self.breaker.record_success()
        last_count.name""",
        after="""            self.breaker.record_failure(error)
            raise
        self.breaker.record_success()
        last_count.name""",
        test="tests/config/test_served.py::test_without_the_counters_calls_are_served_and_limited_by_the_process",
    ),
    Mutant(
        name="SSRF filter off",
        path="accounts/webhooks/ssrf_guard.py",
        before="    if not all(is_allowed(address) for address in addresses):",
        after="    if not addresses:",
        # Of this machine alone: without the filter the other cases would knock at addresses of others.
        test="tests/accounts/webhooks/test_ssrf_guard.py::"
        "test_a_name_that_leads_to_a_forbidden_address_is_never_connected_to[127.0.0.1]",
    ),
    Mutant(
        name="escaping off",
        path="config/settings/base.py",
        before="""        "OPTIONS": {
            "context_processors": [""",
        after="""        "OPTIONS": {
            "autoescape": False,
            "context_processors": [""",
        test="tests/orders/dashboard/test_board.py::test_what_customers_write_shows_as_text",
    ),
    Mutant(
        name="rate header off",
        path="framework/api/rate_limits/middleware.py",
        before="""            "X-RateLimit-Remaining": str(self.remaining),
""",
        after="",
        test="tests/framework/api/test_rate_limits.py::test_every_answer_carries_the_headers",
    ),
    Mutant(
        name="deep-JSON catch off",
        path="framework/api/json_parser.py",
        before="    if _is_deep(text):",
        after="    if not text and _is_deep(text):",
        test="tests/framework/api/test_json_parser.py::test_objects_nest_32_deep_and_no_deeper",
    ),
    Mutant(
        name="on_commit off",
        path="accounts/webhooks/outbox.py",
        before="        transaction.on_commit(enqueue_webhook_delivery)",
        after="        enqueue_webhook_delivery()",
        test="tests/accounts/webhooks/test_outbox.py::test_what_is_rolled_back_did_not_happen_and_enqueues_nothing",
    ),
    Mutant(
        name="fencing off",
        path="catalogue/exports/jobs/claims.py",
        before="        pk=part.pk, token=part.token, state=ExportPart.State.CLAIMED,",
        after="        pk=part.pk, state=ExportPart.State.CLAIMED,",
        test="tests/catalogue/exports/test_worker.py::test_who_has_lost_the_lease_writes_nothing",
    ),
    Mutant(
        name="401 off",
        path="accounts/api_keys/authentication.py",
        before="""    if state == "revoked":""",
        after="""    if state == "forgotten":""",
        test="tests/accounts/api_keys/test_authentication.py::test_a_revoked_key_is_refused_from_that_moment",
    ),
)
