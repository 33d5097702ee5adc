"""The endpoints of the caller's profile, and those that link wallets to an account."""

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
from payments.identity import siwx
from payments.identity.caller import caller_of
from payments.identity.caller_profile import load_profile
from payments.identity.drf_authentication import DataViewSet
from payments.models import Wallet
from payments.serializers import auth, me
from payments.tiers.ladder import describe_ladder
from payments.tiers.terms import wallet_terms
from payments.wallets import links

PATH = "/v1/me/wallets"
WALLET = OpenApiParameter("address", {"type": "string", "pattern": evm.ADDRESS}, OpenApiParameter.PATH)
LOCATION = OpenApiParameter(
    "Location", str, OpenApiParameter.HEADER, required=True, response=[200, 201], description="The URL to unlink it."
)


class MeViewSet(DataViewSet[Wallet]):
    """The caller's profile."""

    queryset = Wallet.objects.none()
    serializer_class = me.MeRecord
    query_actions = ()

    @extend_schema(
        operation_id="get_me",
        summary="See your tier, limit and prices",
        responses=schema.documented_responses({200: me.MeRecord}),
    )
    def list(self, request: Request) -> Response:
        """The tier that applies to this request, its terms, and the requirements of the next tier."""
        usage = request.usage  # type: ignore[attr-defined]
        profile = load_profile(caller_of(request), usage=usage, now=timezone.now())
        return Response(me.MeRecord(profile).data, headers=NO_STORE)


class TierViewSet(DataViewSet[Wallet]):
    """The tiers."""

    queryset = Wallet.objects.none()
    serializer_class = me.LadderRecord
    query_actions = ()

    @extend_schema(
        operation_id="list_tiers",
        summary="See the tiers, and how they are reached",
        responses=schema.documented_responses({200: me.LadderRecord}),
    )
    def list(self, request: Request) -> Response:
        """The token and its chain, what to hold or stake for each tier, and what each opens. Free; no key."""
        return Response(me.LadderRecord(describe_ladder()).data, headers=NO_STORE)


class WalletViewSet(DataViewSet[Wallet]):
    """The wallets of an account."""

    queryset = Wallet.objects.none()
    serializer_class = me.WalletRecord
    lookup_url_kwarg = "address"
    lookup_value_regex = evm.ADDRESS[1:-1]
    query_actions = ()

    @extend_schema(
        operation_id="list_wallets",
        summary="List your wallets, the best first",
        responses=schema.documented_responses({200: me.WalletsAnswer}, errors=[401]),
    )
    def list(self, request: Request) -> Response:
        """The wallets of the account of your key, or the wallet of your session or signed challenge."""
        wallets = links.list_wallets(caller_of(request))
        found = [{"wallet": wallet, "terms": wallet_terms(wallet)} for wallet in wallets]
        return Response(me.WalletsAnswer({"data": found}).data, headers=NO_STORE)

    @extend_schema(
        operation_id="link_wallet",
        summary="Link a wallet to your account",
        parameters=[SIGN_IN, LOCATION],
        request=auth.SignedMessage,
        responses=schema.documented_responses({200: me.WalletRecord, 201: me.WalletRecord}, errors=[401]),
    )
    def create(self, request: Request) -> Response:
        """With an API key of the account that has every scope, and a signed challenge of the wallet.

        A wallet is linked to one account: linking it to another one moves it, unless the first one has a spending
        limit. 200 if it was linked already.
        """
        caller = caller_of(request)
        account = links.authorize_account(caller)
        now = timezone.now()
        address = caller.challenge_wallet
        if address is None:
            form = auth.SignedMessage(data=json_body(request))
            form.is_valid(raise_exception=True)
            address = siwx.verify_and_spend(siwx.parse_message(**form.validated_data, now=now))
        wallet, is_new = links.link_wallet(address, account=account, now=now)
        record = me.WalletRecord({"wallet": wallet, "terms": wallet_terms(wallet)}).data
        return Response(
            record,
            status=status.HTTP_201_CREATED if is_new else status.HTTP_200_OK,
            headers={**NO_STORE, "Location": public_url(f"{PATH}/{record['address']}")},
        )

    @extend_schema(
        operation_id="unlink_wallet",
        summary="Unlink a wallet",
        parameters=[WALLET],
        responses=schema.documented_responses({204: None}, errors=[401, 404]),
    )
    def destroy(self, request: Request, address: str) -> Response:
        """With a key of its account that has every scope; without a spending limit also as the wallet itself."""
        links.unlink_wallet(address.lower(), caller=caller_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)
