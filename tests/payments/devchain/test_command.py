"""`manage.py devchain`: status of the tests' chain, and transfers to wallets."""

import json
import re
import secrets
import signal
import subprocess
import sys
from collections.abc import Mapping
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from payments.chain.evm import to_checksum_address
from payments.devchain import client
from payments.devchain.wallets import Wallet, from_key
from tests.support.wallets import chain_secret, fresh_wallet, usdc_balance


def devchain(*words: str) -> Any:
    """The output of the command as JSON."""
    chain_secret()
    out = StringIO()
    call_command("devchain", *words, "--json", "--state-dir", str(settings.STATE_DIR), stdout=out)
    return json.loads(out.getvalue())


@pytest.mark.exhaustive
def test_status_shows_block_contracts_and_wallets(wallets: Mapping[str, Wallet]) -> None:
    result = devchain("status")
    assert (result["rpc_url"], result["chain_id"], result["block"] >= 0) == (settings.RPC_URL, 84532, True)
    assert result["contracts"]["usdc"] == "0x036CbD53842c5426634e7929541eC2318f3dCF7e"
    names = [one["name"] for one in result["wallets"]]
    assert names == ["free", "pro", "premium", "enterprise", "merchant", "facilitator", "faucet"]
    assert result["wallets"][0]["address"] == to_checksum_address(wallets["free"].address)
    assert Decimal(result["wallets"][3]["staked"]) >= 60_000


def test_status_without_json_is_a_table() -> None:
    out = StringIO()
    call_command("devchain", "status", "--state-dir", str(settings.STATE_DIR), stdout=out)
    assert "premium" in out.getvalue()
    assert f"rpc_url  {settings.RPC_URL}" in out.getvalue()


@pytest.mark.exhaustive
def test_a_wallet_is_funded() -> None:
    wallet = from_key("recipient", secrets.token_bytes(32))
    nothing = {"tokens": "0", "staked": "0"}
    result = devchain("fund", wallet.address)
    assert result == {"address": to_checksum_address(wallet.address), "usdc": "100", "ether": "1", **nothing}
    assert usdc_balance(wallet.address) == Decimal(100)
    assert devchain("fund", wallet.address, "--tokens", "2.5")["tokens"] == "2.5"
    assert devchain("mint", "usdc", wallet.address, "0.000001")["usdc"] == "100.000001"
    assert devchain("mint", "tokens", wallet.address, "1")["tokens"] == "3.5"


@pytest.mark.exhaustive
def test_a_wallet_stakes_and_unstakes() -> None:
    # Not a demo wallet: other tests rely on their holdings.
    before = Decimal(devchain("mint", "tokens", "faucet", "3")["tokens"])
    staked = devchain("stake", "faucet", "3")
    assert (Decimal(staked["tokens"]), Decimal(staked["staked"])) == (before - 3, Decimal(3))
    assert Decimal(devchain("unstake", "faucet", "3")["tokens"]) == before
    with pytest.raises(CommandError, match=r"was reverted\. faucet has .* tokens that are free, 0 staked"):
        devchain("unstake", "faucet", "1")
    with pytest.raises(CommandError, match="There is no wallet 'nobody'"):
        devchain("stake", "nobody", "1")


def test_the_price_is_set() -> None:
    try:
        assert devchain("price", "2.5") == {"token_price_usd": "2.5"}
    finally:
        assert devchain("price", "2") == {"token_price_usd": "2"}


# Only on the development chain
def test_another_chain_than_the_embedded_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    wallet = fresh_wallet(Decimal(1))
    monkeypatch.setenv("RPC_URL", "https://mainnet.base.org")
    with pytest.raises(CommandError, match="RPC_URL names another chain"):
        devchain("fund", wallet.address)
    assert usdc_balance(wallet.address) == Decimal(1)


def test_without_a_chain_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RPC_URL", raising=False)
    with pytest.raises(CommandError, match="has no development chain"):
        call_command("devchain", "status", "--state-dir", str(tmp_path))
    record = {"chain": {"port": 1, "password": "x"}}
    (tmp_path / "stack.json").write_text(json.dumps(record))
    with pytest.raises(CommandError, match="Nothing answers at"):
        call_command("devchain", "status", "--state-dir", str(tmp_path))


@pytest.mark.parametrize("words", [["mint", "usdc", "free", "0"], ["price", "-1"], ["fund", "free", "--usdc", "NaN"]])
def test_amounts_must_be_positive(words: list[str]) -> None:
    with pytest.raises(CommandError, match=r"must be more than 0|expected one argument"):
        devchain(*words)


@pytest.mark.exhaustive
def test_a_fraction_of_the_smallest_unit_is_refused_and_nothing_is_sent() -> None:
    before = devchain("status")
    for words, smallest in (
        (["price", "0.000000001"], "0.00000001"),
        (["mint", "usdc", "free", "0.0000015"], "0.000001"),
        (["fund", "free", "--usdc", "1", "--ether", "1e-19"], "0.000000000000000001"),
        (["stake", "premium", "1e-19"], "0.000000000000000001"),
        (["unstake", "premium", "1.0000000000000000001"], "0.000000000000000001"),
    ):
        with pytest.raises(CommandError, match=f"smallest unit, {re.escape(smallest)}"):
            devchain(*words)
    assert devchain("status") == before


def test_the_zero_address_and_impossible_ports_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="is the zero address"):
        devchain("fund", f"0x{'0' * 40}")
    with pytest.raises(CommandError, match="must be from 0 to 65535"):
        call_command("devchain", "run", "--home", str(tmp_path), "--port", "99999")


def test_amounts_of_thirty_digits_are_exact() -> None:
    assert client.to_atomic(Decimal("999999999999.000000000000000001"), 18) == 999999999999000000000000000001


@pytest.mark.stack
def test_a_standalone_node_keeps_its_chain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RPC_URL", raising=False)
    home = tmp_path / "a chain"
    command = [sys.executable, "manage.py", "devchain", "run", "--home", str(home)]
    urls, blocks = [], []
    for _ in range(2):
        with subprocess.Popen(command, cwd=settings.BASE_DIR, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            urls.append(process.stdout.readline().strip())
            if len(urls) == 1:
                call_command("devchain", "fund", "pro", "--usdc", "5", "--state-dir", str(home), stdout=StringIO())
            out = StringIO()
            call_command("devchain", "status", "--json", "--state-dir", str(home), stdout=out)
            result = json.loads(out.getvalue())
            blocks.append(result["block"])
            assert Decimal(result["wallets"][1]["usdc"]) == Decimal(1005)
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0
    assert urls[0] == urls[1]
    assert blocks == [1, 1]
    with pytest.raises(httpx.ConnectError):
        httpx.get(urls[0])
