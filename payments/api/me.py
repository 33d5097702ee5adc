"""What a caller has, over HTTP."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.api import openapi
from payments import me
from payments.authentication import DataViewSet
from payments.caching import NO_STORE
from payments.callers import caller_of
from payments.models import Wallet
from payments.serializers import me as serializers


class MeViewSet(DataViewSet[Wallet]):
    """What a caller has."""

    queryset = Wallet.objects.none()
    serializer_class = serializers.MeRecord
    reads_query = ()

    @extend_schema(
        operation_id="get_me",
        summary="See your tier, limit and prices",
        responses=openapi.answers({200: serializers.MeRecord}),
    )
    def list(self, request: Request) -> Response:
        """The tier by which this very request was served, what it gives, and what leads to the next one."""
        standing = me.standing(caller_of(request), usage=request.usage, now=timezone.now())  # type: ignore[attr-defined]
        return Response(serializers.MeRecord(standing).data, headers=NO_STORE)
