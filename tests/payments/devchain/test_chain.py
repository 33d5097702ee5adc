"""The chain: transactions, blocks, timestamps, and what a restart restores."""

import resource
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from eth_account import Account
from web3 import Web3

from config.dev_stack.servers import free_port
from config.dev_stack.wsgi_servers import Chain as Server
from payments.chain.evm import encode_call, to_checksum_address
from payments.devchain import wallets
from payments.devchain.addresses import PRICE_FEED, USDC, UTILITY_TOKEN
from payments.devchain.chain import Block, Chain
from payments.devchain.transactions import InvalidTransaction
from payments.devchain.wallets import Wallet
from tests.payments.devchain import external_tools

SECRET = "of these tests"
NOW = 1_764_000_000
PRO = wallets.derive_wallet(SECRET, "pro")


def signed(sender: Wallet, *, nonce: int, to: str | None = None, data: str = "0x", value: int = 1) -> bytes:
    """A signed transaction; by default it sends the faucet a wei."""
    to = to or wallets.derive_wallet(SECRET, wallets.FAUCET).address
    common = {"chainId": 84532, "gas": 200_000, "gasPrice": 1_000_000, "value": value}
    fields = {**common, "to": to_checksum_address(to), "data": data, "nonce": nonce}
    return bytes(Account.sign_transaction(fields, sender.private_key).raw_transaction)


@pytest.fixture
def restart(tmp_path: Path) -> Iterator[Callable[[], Chain]]:
    """Open the chain of the test's directory, after closing the previous one."""
    opened: list[Chain] = []

    def start() -> Chain:
        for one in opened:
            one.close()
        opened.append(Chain(tmp_path, secret=SECRET))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


@pytest.fixture
def chain(restart: Callable[[], Chain]) -> Chain:
    """A new chain."""
    return restart()


def test_a_restart_restores_blocks_and_state(chain: Chain, restart: Callable[[], Chain]) -> None:
    chain.send(
        signed(PRO, nonce=0, to=USDC, data=encode_call("mint(address,uint256)", PRO.address, 7), value=0), now=NOW
    )
    chain.send(signed(PRO, nonce=1, to=UTILITY_TOKEN, data=encode_call("unstake(uint256)", 1), value=0), now=NOW + 9)
    chain.send(signed(PRO, nonce=2), now=NOW + 22)
    assert [block.mined.result.is_success for block in chain.blocks[1:] if block.mined] == [True, False, True]
    assert [block.timestamp for block in chain.blocks] == [0, NOW, NOW + 9, NOW + 22]

    again = restart()

    assert again.blocks == chain.blocks
    assert again.evm.get_balance(PRO.address) == chain.evm.get_balance(PRO.address)
    assert again.evm.basic(PRO.address).nonce == 3
    again.send(signed(PRO, nonce=3), now=NOW + 30)
    assert again.head.number == 4


def test_each_block_has_the_hash_of_its_parent(chain: Chain) -> None:
    for nonce in range(3):
        chain.send(signed(PRO, nonce=nonce), now=NOW)
    assert [block.number for block in chain.blocks] == [0, 1, 2, 3]
    assert [block.parent_hash for block in chain.blocks[1:]] == [block.hash for block in chain.blocks[:-1]]
    assert len({block.hash for block in chain.blocks}) == 4


def test_timestamps_never_decrease(chain: Chain) -> None:
    for nonce, moment in enumerate((NOW, NOW - 3600, NOW + 1)):
        chain.send(signed(PRO, nonce=nonce), now=moment)
    assert [block.timestamp for block in chain.blocks[1:]] == [NOW, NOW, NOW + 1]


def test_a_call_runs_at_the_current_time_when_the_latest_block_is_old(chain: Chain) -> None:
    data = bytes.fromhex(encode_call("latestRoundData()")[2:])
    for moment in (NOW, NOW + 86_400):
        result = chain.call(sender=PRO.address, to=PRICE_FEED, data=data, value=0, gas=100_000, now=moment)
        assert int.from_bytes(result.output[96:128]) == moment


@pytest.mark.parametrize("torn", ["1764000000 02f8", "1764000000", "\0\0\0\0"])
def test_an_incomplete_last_line_is_dropped(
    chain: Chain, restart: Callable[[], Chain], tmp_path: Path, torn: str
) -> None:
    chain.send(signed(PRO, nonce=0), now=NOW)
    with (tmp_path / "transactions").open("a") as file:
        file.write(torn)
    again = restart()
    assert again.blocks == chain.blocks
    again.send(signed(PRO, nonce=1), now=NOW)
    assert restart().blocks == again.blocks


def test_a_transaction_that_cannot_be_stored_changes_nothing(
    chain: Chain, restart: Callable[[], Chain], tmp_path: Path
) -> None:
    chain.send(signed(PRO, nonce=0), now=NOW)
    before = (tmp_path / "transactions").read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, limits[1]))
    try:
        with pytest.raises(OSError, match="only a part"):
            chain.send(signed(PRO, nonce=1), now=NOW)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (tmp_path / "transactions").read_bytes() == before
    assert (chain.head.number, chain.evm.basic(PRO.address).nonce) == (1, 1)
    chain.send(signed(PRO, nonce=1), now=NOW)
    assert restart().blocks == chain.blocks


def test_a_transaction_before_which_another_is_missing_is_refused(chain: Chain) -> None:
    with pytest.raises(InvalidTransaction, match="nonce too high: next nonce 0, tx nonce 1"):
        chain.send(signed(PRO, nonce=1), now=NOW)
    assert chain.head.number == 0


def test_another_secret_gives_other_wallets() -> None:
    keys = {wallet.private_key for secret in (SECRET, "another") for wallet in wallets.derive_demo_wallets(secret)}
    assert len(keys) == 8
    assert wallets.derive_demo_wallets(SECRET) == wallets.derive_demo_wallets(SECRET)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A node in its own process."""
    server = Server(home=tmp_path / "chain", log=tmp_path / "chain.log", port=free_port(), password=SECRET)
    server.start()
    yield server
    server.stop()


@pytest.mark.stack
def test_sigkill_loses_no_acknowledged_transaction(server: Server) -> None:
    def node() -> Web3:
        return Web3(Web3.HTTPProvider(server.url))

    usdc = external_tools.usdc(node())
    receipts = [
        external_tools.send(node(), PRO, usdc.functions.transfer(usdc.address, amount))
        for amount in (1_000_000, 2_000_000)
    ]
    blocks = [node().eth.get_block(number) for number in range(3)]
    top = psutil.Process(server.pid or 0)
    family = [top, *top.children(recursive=True)]
    for process in family:
        process.kill()
    psutil.wait_procs(family[1:])
    # Registers that the process has ended.
    server.stop()
    server.start()

    assert [node().eth.get_block(number) for number in range(3)] == blocks
    assert [node().eth.get_transaction_receipt(receipt["transactionHash"]) for receipt in receipts] == receipts
    assert usdc.functions.balanceOf(to_checksum_address(PRO.address)).call() == 997_000_000
    assert usdc.functions.balanceOf(usdc.address).call() == 3_000_000
    assert stat.S_IMODE((server.home / "transactions").stat().st_mode) == 0o600


def test_a_block_is_found_by_its_hash(chain: Chain) -> None:
    chain.send(signed(PRO, nonce=0), now=NOW)
    found: Block | None = chain.find_block(chain.head.hash)
    assert found == chain.head
    assert chain.find_block(bytes(32)) is None
