"""The endpoints of payments."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from framework.api.cache_headers import NO_STORE
from framework.api.openapi import schema
from payments.api.filters import PaymentParameters
from payments.identity.caller import caller_of
from payments.identity.drf_authentication import DataViewSet
from payments.ledger import payment_history
from payments.models import Payment
from payments.models.payments import PREFIX
from payments.serializers import payments as serializers


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
