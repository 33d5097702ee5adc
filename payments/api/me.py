"""The endpoint of the caller's profile."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from framework.api.cache_headers import NO_STORE
from framework.api.openapi import schema
from payments.identity.caller import caller_of
from payments.identity.caller_profile import load_profile
from payments.identity.drf_authentication import DataViewSet
from payments.models import Wallet
from payments.serializers.me import MeRecord


class MeViewSet(DataViewSet[Wallet]):
    """The caller's profile."""

    queryset = Wallet.objects.none()
    serializer_class = MeRecord
    query_actions = ()

    @extend_schema(
        operation_id="get_me",
        summary="See your tier, limit and prices",
        responses=schema.documented_responses({200: MeRecord}),
    )
    def list(self, request: Request) -> Response:
        """The tier that applies to this request, its terms, and the requirements of the next tier."""
        usage = request.usage  # type: ignore[attr-defined]
        profile = load_profile(caller_of(request), usage=usage, now=timezone.now())
        return Response(MeRecord(profile).data, headers=NO_STORE)
