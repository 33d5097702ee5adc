"""The dashboard's page of the data service: wallets linked by a signature that names the account, tier, sessions."""

import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from html import unescape
from threading import Barrier
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import Venue
from framework.errors import ApiError
from payments.chain.evm import to_checksum_address
from payments.devchain.wallets import Wallet as Key
from payments.models import Plan, SpentChallenge, Wallet, WalletSession
from payments.pricing import default_products
from payments.wallets import link_challenge
from tests.payments.signing import SESSION, client_of, signature_of, signed_challenge
from tests.support import builders, users

pytestmark = pytest.mark.django_db
XSS = "<script>alert(1)</script>"


def at(venue: Venue, rest: str = "") -> str:
    return f"/dashboard/{venue.public_id}/data{rest}"


def output(answer: Any) -> str:
    """The page as text."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())).split())


def letter_on(page: Any) -> tuple[str, str]:
    """The nonce and the text of the message that a page shows."""
    shown = page.content.decode()
    nonce = re.search(r'name="nonce" value="([0-9a-f]{64})"', shown)
    text = re.search(r'<pre id="message"[^>]*>(.*?)</pre>', shown, re.DOTALL)
    assert nonce is not None, shown
    assert text is not None
    return nonce[1], unescape(text[1])


def signed(owner: Client, venue: Venue, key: Key) -> dict[str, str]:
    """What the form sends once the wallet has signed its message."""
    nonce, text = letter_on(owner.post(at(venue, "/wallets/new"), {"address": key.address}))
    return {"address": key.address, "nonce": nonce, "signature": signature_of(key, text)}


def link(owner: Client, venue: Venue, key: Key) -> Any:
    return owner.post(at(venue, "/wallets/link"), signed(owner, venue, key))


def account_of(key: Key) -> str | None:
    wallet = Wallet.objects.select_related("account").filter(pk=key.address).first()
    return wallet.account.name if wallet and wallet.account else None


# The page
def test_page_takes_five_queries_besides_authentication(
    venue: Venue, wallets: Mapping[str, Key], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    default_products.create_missing()
    owner = users.member(venue)
    for name in ("free", "pro", "premium"):
        Wallet.objects.create(address=wallets[name].address, account=venue.account, tier=name)
    with django_assert_num_queries(5 + 5):
        assert owner.get(at(venue)).status_code == 200


def test_without_a_wallet_the_page_says_what_one_brings(venue: Venue) -> None:
    default_products.create_missing()
    page = output(users.member(venue).get(at(venue)))
    assert "Your tier Free no linked wallet Requests a minute 10" in page
    assert "Price of a call, USDC 0.002 Neighborhood context" in page
    assert (
        "Link a wallet to reach Pro A wallet that holds 100 USD of the token gives your API keys 120 requests a minute"
        " instead of 10. Calls cost up to 33 % less. It also opens: Photos, Reviews. Link a wallet" in page
    )
    assert "Wallet sessions" not in page


def test_page_without_products_has_no_prices(venue: Venue) -> None:
    page = output(users.member(venue).get(at(venue)))
    assert "Price of a call" not in page
    assert "There are no paid products on this installation." in page


def test_each_wallet_says_what_it_holds_and_what_the_next_tier_needs(venue: Venue, wallets: Mapping[str, Key]) -> None:
    default_products.create_missing()
    owner = users.member(venue)
    link(owner, venue, wallets["pro"])
    page = output(owner.get(at(venue)))
    assert "Your tier Pro from your best wallet Requests a minute 120" in page
    assert "Price of a call, USDC 0.0015\u20130.003 " in page
    assert "Next tier Premium hold 750 USD more of the token" in page
    assert "250.00 USD of the token, 0 staked Last read just now" in page
    assert "To reach Premium Hold 750.00 USD more of the token (1,000.00 in all). Or stake 5,000 more tokens" in page
    assert (
        "Reviews \N{EN DASH} not available 0.003 \N{MINUS SIGN}25 % 0.002 \N{MINUS SIGN}50 % 0.001 \N{MINUS SIGN}75 %"
        in page
    )
    assert "Insight \N{EN DASH} not available from Premium 0.006 \N{MINUS SIGN}40 % 0.003 \N{MINUS SIGN}70 %" in page


def test_prices_limits_and_requirements_of_each_tier_are_one_table(venue: Venue) -> None:
    default_products.create_missing()
    page = output(users.member(venue).get(at(venue)))
    assert "USDC per call Free yours Pro Premium Enterprise Requests a minute 10 120 600 dedicated" in page
    assert (
        "Neighborhood context 0.002 0.0015 \N{MINUS SIGN}25 % 0.001 \N{MINUS SIGN}50 % 0.0005 \N{MINUS SIGN}75 %"
        in page
    )
    assert "Needed nothing 100 USD of the token 1,000 USD of the token, or 5,000 staked a contract, or 50,000" in page
    assert "Support docs and community e-mail priority dedicated" in page
    # The pages of exports have their prices.
    assert "Export of reviews" not in page


def test_a_plan_is_shown_with_what_was_agreed_and_never_as_markup(venue: Venue) -> None:
    default_products.create_missing()
    venue.account.name = XSS
    venue.account.save()
    began = timezone.now() - timedelta(days=1)
    Plan.objects.create(
        name=XSS, account=venue.account, price_factor="0.8", per_minute=9000, sla=XSS, valid_from=began
    )
    answer = users.member(venue).get(at(venue))
    page = output(answer)
    assert "Your tier Enterprise from your plan Requests a minute 9000" in page
    assert "as in the tier, times 0.8 Valid until no end date" in page
    # The price of Enterprise, 0.001, times the factor of the plan.
    assert (
        "Reviews \N{EN DASH} not available 0.003 \N{MINUS SIGN}25 % 0.002 \N{MINUS SIGN}50 % 0.0008 \N{MINUS SIGN}80 %"
        in page
    )
    assert "Support Dedicated Priority: dedicated. With a service-level agreement" in page
    assert XSS not in answer.content.decode()


# Linking
def test_a_wallet_is_linked_by_its_signature_of_a_message_that_names_the_account(
    venue: Venue, wallets: Mapping[str, Key]
) -> None:
    owner, key = users.member(venue), wallets["pro"]
    with time_machine.travel(datetime(2026, 11, 22, 9, 30, 15, tzinfo=UTC), tick=False):
        owner = users.member(venue)
        page = owner.post(at(venue, "/wallets/new"), {"address": to_checksum_address(key.address)})
        nonce, text = letter_on(page)
        assert text == (
            "127.0.0.1:8000 wants you to sign in with your Ethereum account:\n"
            f"{to_checksum_address(key.address)}\n"
            "\n"
            "Link this wallet to Trattoria Ltd at 127.0.0.1:8000. This moves nothing and costs nothing.\n"
            "\n"
            "URI: http://127.0.0.1:8000/dashboard\n"
            "Version: 1\n"
            "Chain ID: 84532\n"
            f"Nonce: {nonce}\n"
            "Issued At: 2026-11-22T09:30:15Z\n"
            "Expiration Time: 2026-11-22T09:40:15Z\n"
            f"Request ID: {venue.account_id}"
        )
        body = {"address": key.address, "nonce": nonce, "signature": signature_of(key, text)}
        answer = owner.post(at(venue, "/wallets/link"), body)
    assert (answer.status_code, answer["Location"]) == (302, at(venue))
    assert builders.messages_of(answer) == ["The wallet was linked."]
    assert account_of(key) == "Trattoria Ltd"


@pytest.mark.exhaustive
def test_a_signature_links_once(venue: Venue, wallets: Mapping[str, Key]) -> None:
    owner, key = users.member(venue), wallets["pro"]
    body = signed(owner, venue, key)
    assert owner.post(at(venue, "/wallets/link"), body).status_code == 302
    Wallet.objects.update(account=None)
    again = owner.post(at(venue, "/wallets/link"), body)
    assert again.status_code == 400
    refused = "This message was used before. Each is good once: ask for a new one. Sign the new message above."
    assert refused in output(again)
    assert letter_on(again)[0] != body["nonce"]
    assert account_of(key) is None


def test_a_signature_for_one_account_links_nothing_to_another(
    venue: Venue, other_venue: Venue, wallets: Mapping[str, Key]
) -> None:
    body = signed(users.member(venue), venue, wallets["pro"])
    answer = users.member(other_venue).post(at(other_venue, "/wallets/link"), body)
    assert answer.status_code == 400
    assert "This message was made for another wallet or another account." in output(answer)
    assert account_of(wallets["pro"]) is None


def test_sign_in_and_link_signatures_are_not_interchangeable(venue: Venue, wallets: Mapping[str, Key]) -> None:
    owner, key = users.member(venue), wallets["pro"]
    challenge = signed_challenge(Client(), key)
    nonce = re.search(r"Nonce: (\w+)", challenge["message"])
    assert nonce is not None
    body = {"address": key.address, "nonce": nonce[1], "signature": challenge["signature"]}
    assert owner.post(at(venue, "/wallets/link"), body).status_code == 400
    assert account_of(key) is None
    message = link_challenge.create_message(key.address, account=venue.account, now=timezone.now())
    sent = {"message": message.text, "signature": signature_of(key, message.text)}
    refused = Client().post(SESSION, sent, content_type="application/json")
    assert (refused.status_code, WalletSession.objects.count()) == (400, 0)


def test_another_wallets_signature_links_nothing_and_the_message_can_still_be_signed(
    venue: Venue, wallets: Mapping[str, Key]
) -> None:
    owner = users.member(venue)
    nonce, text = letter_on(owner.post(at(venue, "/wallets/new"), {"address": wallets["enterprise"].address}))
    forged = {
        "address": wallets["enterprise"].address,
        "nonce": nonce,
        "signature": signature_of(wallets["free"], text),
    }
    answer = owner.post(at(venue, "/wallets/link"), forged)
    assert answer.status_code == 400
    assert "The signature is not of this wallet on this message." in output(answer)
    assert letter_on(answer)[0] == nonce
    assert forged["signature"] in answer.content.decode()
    assert (account_of(wallets["enterprise"]), SpentChallenge.objects.count()) == (None, 0)
    owner.post(at(venue, "/wallets/link"), forged | {"signature": signature_of(wallets["enterprise"], text)})
    assert account_of(wallets["enterprise"]) == "Trattoria Ltd"


@pytest.mark.parametrize(("minutes", "links"), [(9, True), (10, False)])
def test_a_message_is_good_for_ten_minutes(
    venue: Venue, wallets: Mapping[str, Key], minutes: int, links: bool
) -> None:
    now = timezone.now()
    message = link_challenge.create_message(wallets["pro"].address, account=venue.account, now=now)
    signature = signature_of(wallets["pro"], message.text)
    later = now + timedelta(minutes=minutes)
    if links:
        link_challenge.link_wallet(message.address, message.nonce, signature, account=venue.account, now=later)
    else:
        with pytest.raises(link_challenge.InvalidLinkMessage, match="older than ten minutes"):
            link_challenge.link_wallet(message.address, message.nonce, signature, account=venue.account, now=later)
    assert account_of(wallets["pro"]) == ("Trattoria Ltd" if links else None)


def test_a_wallet_linked_to_another_account_is_refused_without_naming_the_account(
    venue: Venue, other_venue: Venue, wallets: Mapping[str, Key]
) -> None:
    link(users.member(other_venue), other_venue, wallets["pro"])
    answer = link(users.member(venue), venue, wallets["pro"])
    assert answer.status_code == 400
    assert "This wallet is linked to another account. It has to be unlinked there first." in output(answer)
    assert "Bistro" not in answer.content.decode()
    assert account_of(wallets["pro"]) == "Bistro SARL"


def test_a_wallet_is_linked_also_while_the_chain_is_away(
    settings: Settings, venue: Venue, wallets: Mapping[str, Key]
) -> None:
    settings.RPC_URL = "http://127.0.0.1:9"
    owner = users.member(venue)
    assert link(owner, venue, wallets["pro"]).status_code == 302
    assert "Holdings not read yet" in output(owner.get(at(venue)))


@pytest.mark.parametrize("name", ["Ristorante Città “Più” <b>", "東京", "A\nURI: https://evil.example"])
def test_an_accounts_name_keeps_within_the_line_of_the_message(venue: Venue, name: str) -> None:
    venue.account.name = name
    text = link_challenge.create_message("0x" + "a" * 40, account=venue.account, now=timezone.now()).text
    assert len(text.splitlines()) == 12
    assert text.isascii()
    assert "<" not in text


@pytest.mark.parametrize("address", ["", "0x12", "\x00", "0x" + "g" * 40, "0x" + "a" * 41])
def test_an_address_that_is_none_is_refused_at_its_field(venue: Venue, address: str) -> None:
    answer = users.member(venue).post(at(venue, "/wallets/new"), {"address": address})
    assert answer.status_code == 400
    assert 'aria-invalid="true"' in answer.content.decode()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"address": "0x" + "a" * 40, "nonce": "f" * 64, "signature": "0xzz"},
        {"address": "0x" + "a" * 40, "nonce": "\x00", "signature": "0x00"},
        {"address": "0x" + "a" * 40, "nonce": "f" * 64, "signature": "0x" + "00" * 65},
        {"address": "nobody", "nonce": "f" * 64, "signature": "0x00"},
    ],
    ids=["nothing", "no digits", "nul", "made up", "no address"],
)
def test_what_no_form_of_ours_sends_links_nothing(venue: Venue, body: dict[str, str]) -> None:
    assert users.member(venue).post(at(venue, "/wallets/link"), body).status_code == 400
    assert Wallet.objects.count() == 0


# Unlinking and sessions
def test_unlinking_asks_first(venue: Venue, wallets: Mapping[str, Key]) -> None:
    owner, key = users.member(venue), wallets["pro"]
    link(owner, venue, key)
    address = at(venue, f"/wallets/{key.address}/unlink")
    assert "Unlink this wallet?" in output(owner.get(address))
    assert account_of(key) == "Trattoria Ltd"
    assert builders.messages_of(owner.post(address)) == ["The wallet was unlinked."]
    assert account_of(key) is None
    assert owner.post(address).status_code == 404


def test_the_chain_is_asked_again_on_demand(venue: Venue, wallets: Mapping[str, Key]) -> None:
    owner = users.member(venue)
    Wallet.objects.create(address=wallets["premium"].address, account=venue.account)
    answer = owner.post(at(venue, f"/wallets/{wallets['premium'].address}/refresh"))
    assert builders.messages_of(answer) == [
        "The holdings are up to date. They can be refreshed again after ten minutes."
    ]
    assert Wallet.objects.get(pk=wallets["premium"].address).tier == "premium"


@pytest.mark.exhaustive
def test_a_session_of_a_wallet_is_ended_here(venue: Venue, wallets: Mapping[str, Key]) -> None:
    owner = users.member(venue)
    link(owner, venue, wallets["pro"])
    caller = client_of(wallets["pro"])
    assert caller.get("/v1/me").json()["identified_by"] == "session"
    session = WalletSession.objects.get()
    address = at(venue, f"/sessions/{session.pk}/end")
    assert [builders.messages_of(owner.post(address))[-1] for _ in range(2)] == [
        "The session was ended.",
        "The session had already ended.",
    ]
    assert caller.get("/v1/me").status_code == 401


# Whose it is
@pytest.mark.exhaustive
def test_another_accounts_wallets_and_sessions_are_not_there(
    venue: Venue, other_venue: Venue, wallets: Mapping[str, Key]
) -> None:
    link(users.member(other_venue), other_venue, wallets["pro"])
    client_of(wallets["pro"])
    session = WalletSession.objects.get()
    owner = users.member(venue)
    for rest in (f"/wallets/{wallets['pro'].address}/unlink", f"/wallets/{wallets['pro'].address}/refresh"):
        assert owner.post(at(venue, rest)).status_code == 404
    assert owner.post(at(venue, f"/sessions/{session.pk}/end")).status_code == 404
    assert owner.get(at(other_venue)).status_code == 404
    session.refresh_from_db()
    assert (account_of(wallets["pro"]), session.revoked_at) == ("Bistro SARL", None)


@pytest.mark.parametrize(("role", "status"), [("owner", 200), ("manager", 200), ("host", 403), ("kitchen", 403)])
def test_only_who_has_to_do_with_data_sees_the_page(venue: Venue, role: str, status: int) -> None:
    client = users.member(venue, role)
    assert client.get(at(venue)).status_code == status
    assert client.get(at(venue, "/wallets/new")).status_code == status


def test_a_stranger_is_sent_to_sign_in(venue: Venue, client: Client) -> None:
    answer = client.get(at(venue))
    assert (answer.status_code, answer["Location"]) == (302, f"/account/login/?next={at(venue)}")


# At once
@pytest.mark.django_db(transaction=True)
def test_of_two_accounts_that_link_a_wallet_at_once_one_has_it(
    venue: Venue, other_venue: Venue, wallets: Mapping[str, Key]
) -> None:
    key, now = wallets["free"], timezone.now()
    accounts = [venue.account, other_venue.account] * 2
    letters = [link_challenge.create_message(key.address, account=account, now=now) for account in accounts]
    ready = Barrier(len(accounts))

    def come(number: int) -> str:
        message, account = letters[number], accounts[number]
        try:
            ready.wait()
            link_challenge.link_wallet(
                message.address, message.nonce, signature_of(key, message.text), account=account, now=timezone.now()
            )
        except ApiError as refusal:
            return f"{account.name}: {type(refusal).__name__}"
        else:
            return f"{account.name}: linked"
        finally:
            connection.close()

    with ThreadPoolExecutor(len(accounts)) as threads:
        outcomes = sorted(threads.map(come, range(len(accounts))))
    winner = account_of(key)
    assert outcomes == sorted(
        [f"{winner}: linked"] * 2
        + [f"{name}: WalletLinkedElsewhere" for name in ("Bistro SARL", "Trattoria Ltd") if name != winner] * 2
    )


@pytest.mark.django_db(transaction=True)
def test_of_one_signature_sent_many_times_at_once_one_links(venue: Venue, wallets: Mapping[str, Key]) -> None:
    key, now = wallets["free"], timezone.now()
    message = link_challenge.create_message(key.address, account=venue.account, now=now)
    signature, ready = signature_of(key, message.text), Barrier(4)

    def come(_: int) -> str:
        try:
            ready.wait()
            link_challenge.link_wallet(
                message.address, message.nonce, signature, account=venue.account, now=timezone.now()
            )
        except ApiError as refusal:
            return type(refusal).__name__
        else:
            return "linked"
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(come, range(4))) == ["ChallengeAlreadyUsed"] * 3 + ["linked"]
