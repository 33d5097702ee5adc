"""The endpoints of payments, and the parameters of their list."""

import re
from datetime import timedelta
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from framework.api.cache_headers import NO_STORE
from framework.api.json_parser import json_body
from framework.api.openapi import schema
from framework.api.query_params.declarations import (
    DATE_PATTERN,
    DATETIME_PATTERN,
    ChoiceParam,
    IntegerParam,
    PageParams,
    ParsedTextParam,
    parse_datetime,
)
from payments.identity.caller import caller_of
from payments.identity.drf_authentication import DataViewSet
from payments.ledger import payment_history
from payments.models import Payment
from payments.models.payments import PREFIX
from payments.serializers import payments as serializers


class DateOrTime(ParsedTextParam):
    """A day or a time, parsed to a datetime in UTC. With `is_end` a day is parsed to its end."""

    def __init__(self, *, is_end: bool = False, **options: Any) -> None:
        self.is_end = is_end
        super().__init__(
            pattern=f"^({DATE_PATTERN}|{DATETIME_PATTERN})$",
            max_length=40,
            hint="This must be a day like 2026-11-21 or a moment like 2026-11-21T19:30:00Z; write the + of an offset"
            " as %2B.",
            **options,
        )

    def to_internal_value(self, data: Any) -> Any:
        text = super().to_internal_value(data)
        found = parse_datetime(text)
        if self.is_end and re.fullmatch(DATE_PATTERN, text):
            # There is no day after 9999-12-31.
            return found + timedelta(days=1) if found.year < 9999 else found
        return found


class PaymentParameters(PageParams):
    """The parameters of GET /v1/payments."""

    limit = IntegerParam(required=False, default=20, min_value=1, max_value=100, help_text="Payments on a page.")
    state = ChoiceParam(choices=list(payment_history.STATES), required=False, help_text="Only payments of this state.")
    product = ParsedTextParam(
        required=False,
        max_length=40,
        pattern=r"^[a-z0-9_]+(-[a-z0-9_]+)*$",
        hint="This must be the name of a product, as `GET /v1/me` lists them.",
        help_text="Only payments for this product, alone or with others.",
    )
    to = DateOrTime(
        is_end=True,
        required=False,
        help_text="Created before this time, or on this day or before it. Days are in UTC.",
    )

    def get_fields(self) -> dict[str, Any]:
        # `from` is a keyword of Python.
        fields = super().get_fields()
        first = DateOrTime(required=False, help_text="Created at this time or later, or on this day or later.")
        paged = {name: fields.pop(name) for name in ("limit", "cursor")}
        return {"state": fields.pop("state"), "product": fields.pop("product"), "from": first, **fields, **paged}


class PaymentViewSet(DataViewSet[Payment]):
    """The payments of the caller's proven wallets."""

    queryset = Payment.objects.none()
    serializer_class = serializers.PaymentRecord
    lookup_url_kwarg = "id"
    lookup_value_regex = "[a-zA-Z0-9_]{1,40}"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        # 401 comes before any other error. The action is None, or `metadata` for OPTIONS, if the path does not have
        # the method.
        if self.action not in (None, "metadata"):
            self.wallets = payment_history.get_payers(caller_of(request))
        super().initial(request, *args, **kwargs)

    @extend_schema(
        operation_id="list_payments",
        summary="List your payments, newest first",
        parameters=[PaymentParameters],
        responses=schema.documented_responses({200: serializers.PaymentAnswer}, errors=[401]),
    )
    def list(self, request: Request) -> Response:
        """Of your proven wallets: of a session, of SIGN-IN-WITH-X, or of the account of your key. Free of charge."""
        values = PaymentParameters.read(request)
        values |= {"since": values.pop("from", None), "until": values.pop("to", None)}
        page = payment_history.list_payments(self.wallets, **values, now=timezone.now())
        return Response(serializers.PaymentAnswer(page).data, headers=NO_STORE)

    @extend_schema(
        operation_id="get_payment",
        summary="Retrieve a payment",
        parameters=[schema.path_id(PREFIX)],
        responses=schema.documented_responses({200: serializers.PaymentRecord}, errors=[401, 404]),
    )
    def retrieve(self, request: Request, id: str) -> Response:  # noqa: A002  # the name in the path
        """By the id in receipts and errors (`pay_...`). Free of charge."""
        row = payment_history.get_payment(self.wallets, id)
        return Response(serializers.PaymentRecord(row).data, headers=NO_STORE)

    @extend_schema(
        operation_id="request_refund",
        summary="Ask for a refund",
        parameters=[schema.path_id(PREFIX)],
        request=serializers.NewRefundRequest,
        responses=schema.documented_responses({200: serializers.PaymentRecord}, errors=[401, 404]),
    )
    @action(detail=True, methods=["post"], url_path="refund-request")
    def refund_request(self, request: Request, id: str) -> Response:  # noqa: A002  # the name in the path
        """Ask for the money of a delivered answer back. Our staff decide; the payment shows what they did. Free.

        A repeated request changes nothing. What buys nothing is refunded without a request.
        """
        form = serializers.NewRefundRequest(data=json_body(request))
        form.is_valid(raise_exception=True)
        reason = form.validated_data["reason"]
        row = payment_history.request_refund(self.wallets, id, reason=reason, now=timezone.now())
        return Response(serializers.PaymentRecord(row).data, headers=NO_STORE)
