"""The endpoints of wallet sign-in."""

from datetime import datetime

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from framework.api.cache_headers import NO_STORE
from framework.api.json_parser import json_body
from framework.api.openapi import schema
from framework.api.query_params import parser
from framework.api.viewsets import StrictViewSet
from payments.chain import evm
from payments.identity import sessions, siwx
from payments.identity.caller import bearer_token
from payments.models import WalletSession
from payments.serializers import auth as serializers

SIGN_IN = OpenApiParameter(
    siwx.HEADER,
    str,
    OpenApiParameter.HEADER,
    description="Instead of the body, as x402 clients send it: base64 of the message's fields and the signature.",
)


class AuthViewSet(StrictViewSet[WalletSession]):
    """Sign in with a wallet, to get the tier of its holdings."""

    queryset = WalletSession.objects.none()
    serializer_class = serializers.SessionRecord
    filter_backends = []
    query_actions = ("challenge",)

    @extend_schema(
        operation_id="get_challenge",
        summary="Get a challenge to sign",
        parameters=[serializers.ChallengeParameters],
        responses=schema.documented_responses({200: serializers.ChallengeRecord}),
    )
    @action(detail=False)
    def challenge(self, request: Request) -> Response:
        """The fields of a message of EIP-4361, valid once and for five minutes. Signing it costs nothing."""
        form = serializers.ChallengeParameters(data=parser.parse_query(request, ["address"]))
        form.is_valid(raise_exception=True)
        record = serializers.ChallengeRecord(siwx.create_challenge(now=timezone.now()), context=form.validated_data)
        return Response(record.data, headers=NO_STORE)

    @extend_schema(
        operation_id="open_session",
        summary="Sign in with a wallet",
        parameters=[SIGN_IN],
        request=serializers.SignedMessage,
        responses=schema.documented_responses({201: serializers.SessionRecord}, errors=[401]),
    )
    @action(detail=False, methods=["post"])
    def session(self, request: Request) -> Response:
        """The signed message opens a session of twelve hours. Its token is returned only now."""
        now = timezone.now()
        token, wallet = sessions.open_session(self.sign_in(request, now=now), now=now)
        values = {
            "token": token,
            "expires_in": int(sessions.LIFETIME.total_seconds()),
            "wallet": evm.to_checksum_address(wallet.address),
            "tier": wallet.tier,
            "holdings_usd": wallet.holdings_usd,
        }
        return Response(serializers.SessionRecord(values).data, status=status.HTTP_201_CREATED, headers=NO_STORE)

    def sign_in(self, request: Request, *, now: datetime) -> siwx.SignIn:
        """Parse the signed message from the header, or else from the body."""
        header = request.META.get("HTTP_SIGN_IN_WITH_X")
        if header is not None:
            return siwx.parse_header(header, now=now)
        form = serializers.SignedMessage(data=json_body(request))
        form.is_valid(raise_exception=True)
        return siwx.parse_message(**form.validated_data, now=now)

    @extend_schema(
        operation_id="close_session",
        summary="Sign out",
        # The annotation of drf-spectacular is narrower than its code.
        auth=[{"walletSession": []}],  # type: ignore[list-item]
        responses=schema.documented_responses({204: None}, errors=[401]),
    )
    @session.mapping.delete
    def close(self, request: Request) -> Response:
        """Close the session of the token in the Authorization header."""
        sessions.close_session(bearer_token(request), now=timezone.now())
        return Response(status=status.HTTP_204_NO_CONTENT)
