"""What a caller has, over HTTP."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from framework.api.cache_headers import NO_STORE
from framework.api.openapi import schema
from payments.identity import caller_profile
from payments.identity.caller import caller_of
from payments.identity.drf_authentication import DataViewSet
from payments.models import Wallet
from payments.serializers import me as serializers


class MeViewSet(DataViewSet[Wallet]):
    """What a caller has."""

    queryset = Wallet.objects.none()
    serializer_class = serializers.MeRecord
    query_actions = ()

    @extend_schema(
        operation_id="get_me",
        summary="See your tier, limit and prices",
        responses=schema.documented_responses({200: serializers.MeRecord}),
    )
    def list(self, request: Request) -> Response:
        """The tier by which this very request was served, what it gives, and what leads to the next one."""
        standing = caller_profile.standing(caller_of(request), usage=request.usage, now=timezone.now())  # type: ignore[attr-defined]
        return Response(serializers.MeRecord(standing).data, headers=NO_STORE)
