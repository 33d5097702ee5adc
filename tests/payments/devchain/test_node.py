"""The node, through web3.py."""

import re
import secrets
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import httpx
import pytest
from django.conf import settings
from eth_account import Account
from web3 import Web3
from web3.contract import Contract
from web3.exceptions import ContractLogicError, Web3RPCError

from payments.chain.evm import encode_topic, to_checksum_address
from payments.devchain.wallets import Wallet, from_key
from tests.payments.devchain.external_tools import price_feed, send, token
from tests.support import contracts
from tests.support.wallets import fresh_wallet

TRANSFER = encode_topic("Transfer(address,address,uint256)")
# Code that creates a contract.
CREATION_CODE = bytes.fromhex("60048060093d393df3600056fe")
INSUFFICIENT_FUNDS = "insufficient funds for gas * price + value"


@pytest.fixture
def wallet() -> Wallet:
    """A wallet with 100 USDC and an ether."""
    return fresh_wallet()


def post(content: bytes | None = None, **body: Any) -> Any:
    """The node's answer to a body that no client would send."""
    response = httpx.post(settings.RPC_URL, content=content, json=None if content is not None else body)
    assert response.status_code == 200
    return response.json()


def test_the_node_is_of_the_development_network(node: Web3) -> None:
    assert node.is_connected()
    assert (node.eth.chain_id, node.net.version) == (84532, "84532")
    assert node.client_version == "tablewire-devchain"
    assert node.eth.syncing is False


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (0, {"gasPrice": 1_000_000}),
        (1, {"gasPrice": 1_000_000, "accessList": [{"address": "0x" + 40 * "1", "storageKeys": [3]}], "type": 1}),
        (2, {"maxFeePerGas": 3_000_000, "maxPriorityFeePerGas": 500_000}),
    ],
)
def test_ether_moves_by_each_kind_of_transaction(
    node: Web3, wallet: Wallet, kind: int, fields: Mapping[str, Any]
) -> None:
    to = Web3.to_checksum_address(from_key("to", secrets.token_bytes(32)).address)
    common = {"chainId": 84532, "nonce": 0, "to": to, "value": 12345, "gas": 21_000 if kind != 1 else 30_000}
    raw = Account.sign_transaction({**common, **fields}, wallet.private_key)
    receipt = node.eth.wait_for_transaction_receipt(node.eth.send_raw_transaction(raw.raw_transaction), timeout=5)

    price = 1_500_000 if kind == 2 else 1_000_000
    assert (receipt["status"], receipt["type"], receipt["effectiveGasPrice"]) == (1, kind, price)
    assert node.eth.get_balance(to) == 12345
    left = node.eth.get_balance(Web3.to_checksum_address(wallet.address))
    assert left == 10**18 - 12345 - receipt["gasUsed"] * price
    result = node.eth.get_transaction(receipt["transactionHash"])
    assert (result["from"], result["to"], result["value"], result["nonce"]) == (
        to_checksum_address(wallet.address),
        to,
        12345,
        0,
    )
    assert result["hash"] == raw.hash
    block = node.eth.get_block(receipt["blockNumber"], full_transactions=True)
    assert block["hash"] == receipt["blockHash"] == result["blockHash"]
    assert block["transactions"] == [result]
    assert node.eth.get_block(block["hash"])["transactions"] == [raw.hash]
    assert node.eth.get_block(block["number"] - 1)["hash"] == block["parentHash"]


def test_web3_fills_in_the_fields_of_a_transaction(node: Web3, usdc: Contract, wallet: Wallet) -> None:
    address = Web3.to_checksum_address(wallet.address)
    filled = usdc.functions.transfer(address, 5).build_transaction(
        {"from": address, "nonce": node.eth.get_transaction_count(address, "pending")}
    )
    raw = Account.sign_transaction(filled, wallet.private_key).raw_transaction
    receipt = node.eth.wait_for_transaction_receipt(node.eth.send_raw_transaction(raw), timeout=5)
    assert receipt["status"] == 1
    assert receipt["gasUsed"] <= filled["gas"] < 2 * receipt["gasUsed"]
    assert node.eth.get_transaction_count(address) == 1


def test_a_reverted_call_has_the_reason_and_the_data(node: Web3, usdc: Contract, wallet: Wallet) -> None:
    empty = Web3.to_checksum_address(from_key("poor", secrets.token_bytes(32)).address)
    for ask in (usdc.functions.transfer(empty, 1).call, usdc.functions.transfer(empty, 1).estimate_gas):
        with pytest.raises(ContractLogicError) as refused:
            ask({"from": empty})
        assert refused.value.message == "execution reverted: ERC20: transfer amount exceeds balance"
        assert str(refused.value.data).startswith("0x08c379a0")
    failed = send(node, wallet, usdc.functions.transfer(empty, 100_000_001))
    assert (failed["status"], failed["logs"]) == (0, [])
    # The gas is paid all the same.
    left = node.eth.get_balance(Web3.to_checksum_address(wallet.address))
    assert left == 10**18 - failed["gasUsed"] * failed["effectiveGasPrice"]


def test_calls_and_estimates_change_nothing(node: Web3, usdc: Contract, wallet: Wallet) -> None:
    address = Web3.to_checksum_address(wallet.address)
    before = node.eth.block_number
    assert usdc.functions.mint(address, 7).call({"from": address}) is True
    assert usdc.functions.mint(address, 7).estimate_gas({"from": address}) > 21_000
    assert node.eth.estimate_gas({"from": address, "data": CREATION_CODE}) > 53_000
    assert usdc.functions.balanceOf(address).call() == 100_000_000
    assert node.eth.get_balance(address) == 10**18
    assert node.eth.get_transaction_count(address) == 0
    assert node.eth.block_number == before


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"nonce": 0}, "nonce too low: next nonce 1, tx nonce 0"),
        ({"nonce": 2}, "nonce too high: next nonce 1, tx nonce 2"),
        ({"chainId": 1}, "invalid chain id for signer: have 1 want 84532"),
        ({"value": 10**18}, INSUFFICIENT_FUNDS),
        ({"gas": 30_000_001}, "exceeds block gas limit"),
        ({"gas": 20_000}, "Initial gas spend is 21000 but gas limit is 20000"),
        ({"gasPrice": 999_999}, "max fee per gas less than block base fee"),
    ],
)
def test_an_invalid_transaction_is_refused_with_a_reason(
    node: Web3, wallet: Wallet, changed: dict[str, Any], message: str
) -> None:
    send(node, wallet, to=to_checksum_address(wallet.address))
    before = node.eth.block_number
    common = {"chainId": 84532, "nonce": 1, "to": to_checksum_address(wallet.address), "value": 0}
    wrong = {**common, "gas": 21_000, "gasPrice": 1_000_000} | changed
    with pytest.raises(Web3RPCError, match=re.escape(message)):
        node.eth.send_raw_transaction(Account.sign_transaction(wrong, wallet.private_key).raw_transaction)
    assert node.eth.block_number == before
    assert send(node, wallet, to=to_checksum_address(wallet.address))["status"] == 1


def test_a_contract_is_created(node: Web3, wallet: Wallet) -> None:
    code = contracts.load_artifact("PriceFeed").runtime
    start = bytes.fromhex(f"61{len(code):04x}80600c6000396000f3")
    receipt = send(node, wallet, data="0x" + (start + code).hex(), gas=1_000_000)
    created = receipt["contractAddress"]
    assert created is not None
    assert node.eth.get_code(created) == code
    assert node.eth.get_code(Web3.to_checksum_address(wallet.address)) == b""
    assert node.eth.get_storage_at(created, 1) == bytes(32)
    refused = send(node, wallet, data="0x60006000fd")
    assert refused["status"] == 0
    assert node.eth.get_transaction_count(Web3.to_checksum_address(wallet.address)) == 2


@pytest.mark.exhaustive
def test_logs_are_found_by_address_topic_and_block(node: Web3, usdc: Contract, wallet: Wallet) -> None:
    one, two = (fresh_wallet(Decimal(0)) for _ in range(2))
    first, second = (
        send(node, wallet, usdc.functions.transfer(to_checksum_address(to.address), amount))
        for to, amount in ((one, 1), (two, 2))
    )
    staked = send(node, wallet, token(node).functions.stake(0))
    span: dict[str, Any] = {"fromBlock": first["blockNumber"], "toBlock": staked["blockNumber"]}
    mine, to_one, to_two = (encode_topic(who.address) for who in (wallet, one, two))

    def found(**wanted: Any) -> list[tuple[int, int]]:
        # Other tests use the same chain, so filters name this wallet.
        filters: Any = {**span, **wanted}
        return [(log["blockNumber"], log["logIndex"]) for log in node.eth.get_logs(filters)]

    transfers = [(first["blockNumber"], 0), (second["blockNumber"], 0)]
    assert found(address=usdc.address, topics=[TRANSFER, mine]) == transfers
    assert found(topics=[TRANSFER, mine]) == [*transfers, (staked["blockNumber"], 0)]
    assert found(address=[usdc.address, token(node).address], topics=[None, mine, [to_one, to_two]]) == transfers
    assert found(topics=[[TRANSFER], [mine], [to_two]]) == transfers[1:]
    assert found(topics=[TRANSFER, mine], toBlock=first["blockNumber"]) == transfers[:1]
    assert found(topics=[TRANSFER, mine], fromBlock=second["blockNumber"] + 1, address=usdc.address) == []
    assert found(topics=[mine]) == []
    assert found(topics=[TRANSFER, mine, to_one, None]) == []
    (log,) = node.eth.get_logs({"blockHash": first["blockHash"]})
    assert log == first["logs"][0]
    assert log["transactionHash"] == first["transactionHash"]
    assert int.from_bytes(log["data"]) == 1


def test_the_token_is_staked_and_unstaked(node: Web3) -> None:
    holder = fresh_wallet(tokens=Decimal(30))
    address, table = Web3.to_checksum_address(holder.address), token(node)
    assert send(node, holder, table.functions.stake(20 * 10**18))["status"] == 1
    assert table.functions.balanceOf(address).call() == 10 * 10**18
    assert table.functions.stakedOf(address).call() == 20 * 10**18
    assert send(node, holder, table.functions.unstake(20 * 10**18 + 1))["status"] == 0
    assert send(node, holder, table.functions.unstake(5 * 10**18))["status"] == 1
    assert table.functions.balanceOf(address).call() == 15 * 10**18
    assert table.functions.stakedOf(address).call() == 15 * 10**18


def test_the_price_feed_has_a_current_price_of_2_usd(node: Web3) -> None:
    feed = price_feed(node)
    assert feed.functions.decimals().call() == 8
    _, answer, started, updated, _ = feed.functions.latestRoundData().call()
    assert answer == 2 * 10**8
    assert started == updated >= node.eth.get_block("latest")["timestamp"]


def test_every_fee_method_has_the_same_fees(node: Web3) -> None:
    assert node.eth.gas_price == 1_000_000
    assert node.eth.max_priority_fee == 0
    history = node.eth.fee_history(2, "latest", [10])
    assert history["baseFeePerGas"][-1] == 1_000_000


def test_a_batch_is_answered_without_its_notifications(node: Web3) -> None:
    with node.batch_requests() as batch:
        batch.add(node.eth.get_block("earliest"))
        batch.add(node.eth.get_block("latest"))
        result: Any = batch.execute()
    assert [result[0]["number"], result[0]["timestamp"], result[1]["number"]] == [0, 0, node.eth.block_number]
    content = b'[{"id":7,"method":"eth_chainId"},{"method":"eth_chainId"},{"id":8,"method":"eth_no"}]'
    assert post(content) == [
        {"jsonrpc": "2.0", "id": 7, "result": "0x14a34"},
        {
            "jsonrpc": "2.0",
            "id": 8,
            "error": {"code": -32601, "message": "the method eth_no does not exist/is not available"},
        },
    ]


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"{", -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b"7", -32600),
        (b"[%s]" % b",".join([b"7"] * 101), -32600),
        (b'{"id":1,"method":7}', -32600),
        (b'{"id":1,"method":"eth_call","params":{}}', -32602),
        (b'{"id":1,"method":"eth_call"}', -32602),
        (b'{"id":1,"method":"eth_call","params":[{"to":"0x12"}]}', -32602),
        (b'{"id":1,"method":"eth_call","params":["0x"]}', -32602),
        (b'{"id":1,"method":"eth_chainId","params":[1]}', -32602),
        (b'{"id":1,"method":"eth_getBalance","params":["0x%s","0x"]}' % (b"0" * 40), -32602),
        (b'{"id":1,"method":"eth_getBalance","params":["0x%s","earliest"]}' % (b"0" * 40), -32000),
        (b'{"id":1,"method":"eth_getLogs","params":[{"topics":["0x1"]}]}', -32602),
        (b'{"id":1,"method":"eth_getLogs","params":[{"blockHash":"0x%s"}]}' % (b"0" * 64), -32000),
        (b'{"id":1,"method":"eth_sendRawTransaction","params":["0x"]}', -32000),
        (b'{"id":1,"method":"eth_sendRawTransaction","params":["0x03c0"]}', -32000),
        (b'{"id":1,"method":"eth_sendRawTransaction","params":["0x02f8"]}', -32000),
        (b'{"id":1,"method":"eth_sendRawTransaction","params":["0x02c101"]}', -32000),
    ],
)
def test_an_invalid_request_gets_its_error_code(content: bytes, code: int) -> None:
    answer = post(content)
    assert answer["error"]["code"] == code
    assert answer["jsonrpc"] == "2.0"


def test_more_than_a_mebibyte_is_refused() -> None:
    assert httpx.post(settings.RPC_URL, content=b"[" + b" " * (1 << 20) + b"]").status_code == 413


def test_an_endless_call_runs_out_of_gas(node: Web3, wallet: Wallet) -> None:
    endless = send(node, wallet, data="0x" + bytes.fromhex("60048060093d393df35b600056").hex())["contractAddress"]
    assert endless is not None
    with pytest.raises(Web3RPCError, match="OutOfGas"):
        node.eth.call({"to": endless})
    spent = send(node, wallet, to=endless, gas=100_000)
    assert (spent["status"], spent["gasUsed"]) == (0, 100_000)
