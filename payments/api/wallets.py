"""Linking wallets to an account, over HTTP."""

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from framework.api.cache_headers import NO_STORE
from framework.api.json_parser import json_body
from framework.api.openapi import schema
from framework.api.urls import public_url
from payments.api.auth import SIGN_IN
from payments.chain import evm
from payments.identity import caller_profile, challenge_verification, siwx
from payments.identity.caller import caller_of
from payments.identity.drf_authentication import DataViewSet
from payments.models import Wallet
from payments.serializers import auth
from payments.serializers import wallets as serializers
from payments.wallets import links

PATH = "/v1/me/wallets"
WALLET = OpenApiParameter("address", {"type": "string", "pattern": evm.ADDRESS}, OpenApiParameter.PATH)
LOCATION = OpenApiParameter(
    "Location", str, OpenApiParameter.HEADER, required=True, response=[200, 201], description="Where it is unlinked."
)


class WalletViewSet(DataViewSet[Wallet]):
    """The wallets of an account."""

    queryset = Wallet.objects.none()
    serializer_class = serializers.WalletRecord
    lookup_url_kwarg = "address"
    lookup_value_regex = evm.ADDRESS[1:-1]
    query_actions = ()

    @extend_schema(
        operation_id="list_wallets",
        summary="List your wallets, the best first",
        responses=schema.documented_responses({200: serializers.WalletsAnswer}, errors=[401]),
    )
    def list(self, request: Request) -> Response:
        """Those that are linked to the account of your key; with a session, or a signed challenge, its wallet."""
        found = [caller_profile.held(wallet) for wallet in links.of(caller_of(request))]
        return Response(serializers.WalletsAnswer({"data": found}).data, headers=NO_STORE)

    @extend_schema(
        operation_id="link_wallet",
        summary="Link a wallet to your account",
        parameters=[SIGN_IN, LOCATION],
        request=auth.Proof,
        responses=schema.documented_responses(
            {200: serializers.WalletRecord, 201: serializers.WalletRecord}, errors=[401]
        ),
    )
    def create(self, request: Request) -> Response:
        """With an API key of the account that has every scope, and a signed challenge of the wallet.

        A wallet is linked to one account: proven anew elsewhere, it moves. 200 where it was linked already.
        """
        caller = caller_of(request)
        account = links.account_of(caller)
        now = timezone.now()
        linked = links.link(caller.proven or self.proven(request), account=account, now=now)
        record = serializers.WalletRecord(caller_profile.held(linked.wallet)).data
        return Response(
            record,
            status=status.HTTP_201_CREATED if linked.is_new else status.HTTP_200_OK,
            headers={**NO_STORE, "Location": public_url(f"{PATH}/{record['address']}")},
        )

    def proven(self, request: Request) -> str:
        """The wallet that has signed the challenge in the body."""
        form = auth.Proof(data=json_body(request))
        form.is_valid(raise_exception=True)
        return challenge_verification.prove(siwx.of_message(**form.validated_data, now=timezone.now()))

    @extend_schema(
        operation_id="unlink_wallet",
        summary="Unlink a wallet",
        parameters=[WALLET],
        responses=schema.documented_responses({204: None}, errors=[401, 404]),
    )
    def destroy(self, request: Request, address: str) -> Response:
        """With a key of its account that has every scope, or as the wallet itself."""
        links.unlink(address.lower(), caller=caller_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)
