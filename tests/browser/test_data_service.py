"""The data service in a browser: a wallet linked by its own signature, an export from its order to its file."""

import gzip
import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from eth_account import Account
from eth_account.messages import encode_defunct, encode_typed_data

from tests.support.browser import DESK, PHONE, offences, overflows, sign_up
from tests.support.live_stack import Up, income

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.stack, pytest.mark.browser]
# A wallet as browsers inject it (EIP-1193), which has our key sign.
INJECTED = """
window.ethereum = {
  // Set by tests: the chain, and the method that the user rejects.
  chain: "0x1", rejects: null, knowsChain: true,
  request: async ({method, params}) => {
    if (method === window.ethereum.rejects) throw Object.assign(new Error("User rejected"), {code: 4001});
    if (method === "wallet_switchEthereumChain") {
      if (!window.ethereum.knowsChain) throw Object.assign(new Error("Unknown chain"), {code: 4902});
      window.ethereum.chain = params[0].chainId;
      return null;
    }
    if (method === "eth_requestAccounts") return [await window.addressOfKey()];
    if (method === "personal_sign") return await window.signWithKey(params[0]);
    if (method === "eth_chainId") return window.ethereum.chain;
    if (method === "eth_signTypedData_v4") return await window.signTypedWithKey(params[1]);
    throw new Error(method);
  },
};
"""


def inject(page: "Page", key: str) -> None:
    """Give the browser a wallet with this key."""
    account = Account.from_key(key)

    def sign(text: str) -> str:
        signed = account.sign_message(encode_defunct(hexstr=text))
        return f"0x{bytes(signed.signature).hex()}"

    def sign_typed(text: str) -> str:
        signed = account.sign_message(encode_typed_data(full_message=json.loads(text)))
        return f"0x{bytes(signed.signature).hex()}"

    page.expose_function("signTypedWithKey", sign_typed)
    page.expose_function("addressOfKey", lambda: account.address)
    page.expose_function("signWithKey", sign)
    page.add_init_script(INJECTED)


def key_of(site: Up, tier: str) -> Mapping[str, Any]:
    """The demo wallet of a tier, as `up --json` names it."""
    found: Mapping[str, Any] = next(each for each in site.record["wallets"] if each["name"] == tier)
    return found


def check_pages(page: "Page", *paths: str) -> None:
    """At both widths nothing is cut off, and nothing serious is found."""
    for path in paths:
        page.goto(path)
        for size in (DESK, PHONE):
            page.set_viewport_size(size)
            assert not overflows(page), path
            assert offences(page) == [], path
    page.set_viewport_size(DESK)


def test_a_wallet_is_linked_and_its_export_is_followed_and_fetched(
    visit: Callable[..., "Page"], site: Up, tmp_path: Any
) -> None:
    page = visit()
    inject(page, key_of(site, "enterprise")["private_key"])
    sign_up(page, email="data@example.com", restaurant="Data Kitchen")
    page.goto("/dashboard")
    page.get_by_role("link", name="Data service").first.click()
    page.get_by_role("link", name="Link a wallet").first.click()
    page.get_by_role("button", name="Use browser wallet").click()
    page.get_by_text("The wallet was linked.").wait_for()
    assert page.locator(".tile").first.inner_text().split("\n")[:2] == ["Your tier", "Enterprise"]

    # What nobody has paid for yet is shown with its price and the request.
    page.get_by_role("link", name="Exports").first.click()
    page.get_by_role("link", name="New export").first.click()
    page.get_by_role("radio", name="Restaurants").check()
    page.get_by_role("button", name="Show price").click()
    assert "0.5 USDC" in page.locator(".tile").first.inner_text()
    page.get_by_role("button", name="Order and pay 0.5 USDC with browser wallet").click()
    page.locator("table a", has_text="jsonl.gz").first.wait_for(timeout=60_000)
    assert page.locator("#status-message").inner_text() in ("", "Export Restaurants, jsonl.gz: Done.")
    with page.expect_download() as fetched:
        page.locator("table a", has_text="jsonl.gz").first.click()
    fetched.value.save_as(tmp_path / "file.jsonl.gz")
    lines = gzip.decompress((tmp_path / "file.jsonl.gz").read_bytes()).splitlines()
    assert len(lines) == 60
    assert "slug" in json.loads(lines[0])

    base = page.url.split("/exports")[0]
    check_pages(page, f"{base}/data", f"{base}/data/payments", f"{base}/data/spending", f"{base}/exports", page.url)
    check_pages(page, f"{base}/exports/new?dataset=restaurants", f"{base}/data/wallets/new")


def test_an_export_is_paid_once_whatever_goes_wrong_on_the_way(visit: Callable[..., "Page"], site: Up) -> None:
    page = visit()
    with psycopg.connect(site.record["database_url"]) as database:
        # Another test has linked the wallet to its account.
        database.execute("UPDATE payments_wallet SET account_id = NULL")
    sign_up(page, email="payer@example.com", restaurant="Paying Kitchen")
    page.goto("/dashboard")
    page.get_by_role("link", name="Data service").first.click()
    page.get_by_role("link", name="Link a wallet").first.click()
    # The server signs for the demo wallets of the embedded chain.
    page.get_by_role("button", name="Link the demo wallet of the tier Enterprise").click()
    page.get_by_text("The demo wallet was linked.").wait_for()
    page.get_by_role("link", name="Exports").first.click()
    page.get_by_role("link", name="New export").first.click()
    page.get_by_role("radio", name="Landmarks").check()
    page.get_by_role("button", name="Show price").click()
    status = page.locator("#pay-status")
    assert status.inner_text().startswith("This browser has no wallet.")
    page.get_by_role("button", name="Order now and pay within an hour").click()
    page.get_by_role("heading", name="Payment").wait_for()
    unpaid = page.url
    check_pages(page, unpaid)

    inject(page, key_of(site, "enterprise")["private_key"])
    page.goto(unpaid)
    pay = page.get_by_role("button", name="Pay 0.1 USDC with browser wallet")
    for step in ("eth_requestAccounts", "personal_sign", "eth_signTypedData_v4"):
        page.evaluate("method => { window.ethereum.rejects = method; }", step)
        pay.click()
        status.filter(has_text="You rejected the request in your wallet. Nothing was charged.").wait_for()
    page.evaluate("() => { Object.assign(window.ethereum, {rejects: null, chain: '0x1', knowsChain: false}); }")
    pay.click()
    status.filter(has_text="Your wallet is on another network.").wait_for()
    page.evaluate("() => { window.ethereum.knowsChain = true; }")
    page.route(
        "**/v1/exports",
        lambda route: (
            route.fulfill(status=402, json={"reason": "invalid_exact_evm_insufficient_balance"})
            if "payment-signature" in route.request.headers
            else route.continue_()
        ),
    )
    pay.click()
    status.filter(has_text="This wallet does not have enough USDC").wait_for()
    page.unroute("**/v1/exports")
    # A tab that has lost its connection for a while, so that it is not updated.
    stale = page.context.new_page()
    stale.route("**/state*", lambda route: route.abort())
    inject(stale, key_of(site, "enterprise")["private_key"])
    stale.goto(unpaid)
    # The answer to the payment is lost, then the rate limit is reached: the same payment is sent again.
    before, sent = income(site), []

    def lose(route: Any) -> None:
        payment = route.request.headers.get("payment-signature")
        if payment is None:
            route.continue_()
            return
        sent.append(payment)
        if len(sent) == 1:
            route.fetch()
            route.abort()
        elif len(sent) == 2:
            route.fulfill(status=429, json={"error": {"code": "rate_limit_exceeded", "message": "Too many requests."}})
        else:
            route.continue_()

    page.route("**/v1/exports", lose)
    # The page shows the files already while it repeats the payment; the answer opens it again.
    with page.expect_navigation(timeout=60_000):
        pay.click()
    page.locator("table a", has_text="jsonl.gz").first.wait_for(timeout=60_000)
    assert (len(sent), len(set(sent))) == (3, 1)
    assert income(site) - before == Decimal("0.1")
    assert page.url == unpaid
    # It does not buy the finished export again.
    stale.get_by_role("button", name="Pay 0.1 USDC with browser wallet").click()
    stale.locator("#pay-status").filter(has_text="This export awaits no payment.").wait_for()
    assert income(site) - before == Decimal("0.1")
