"""The contracts of the development chain. `python -m tests.support.contracts` compiles them again."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CONTRACTS = Path(__file__).parents[2] / "payments" / "devchain" / "contracts"
NAMES = ("Usdc", "UtilityToken", "PriceFeed", "Multicall")
COMPILER = "0.8.37"
SETTINGS: Mapping[str, Any] = {
    # The fork that payments/devchain/evm.py runs.
    "evmVersion": "shanghai",
    "optimizer": {"enabled": True, "runs": 200},
    # Without metadata the same source compiles to the same bytes everywhere.
    "metadata": {"bytecodeHash": "none", "appendCBOR": False},
    "outputSelection": {"*": {"*": ["abi", "evm.deployedBytecode.object"]}},
}


@dataclass(frozen=True, slots=True)
class Artifact:
    """A compiled contract: its runtime code, its interface, and the hash of its source."""

    runtime: bytes
    abi: tuple[Mapping[str, Any], ...]
    source_sha256: str


def load_artifact(name: str) -> Artifact:
    """Return the committed artifact of a contract."""
    content = json.loads((CONTRACTS / f"{name}.json").read_bytes())
    return Artifact(
        runtime=bytes.fromhex(content["runtime"]), abi=tuple(content["abi"]), source_sha256=content["source_sha256"]
    )


def source_sha256(name: str) -> str:
    """Return the SHA-256 of a contract's current source."""
    return hashlib.sha256((CONTRACTS / f"{name}.sol").read_bytes()).hexdigest()


def compile_all() -> dict[str, str]:
    """Return the text of every artifact, by contract, compiled with npm's solc. Takes seconds.

    npx downloads the compiler. Raises FileNotFoundError without npx, CalledProcessError where the download fails, and
    ValueError with the compiler's errors.
    """
    sources = {f"{name}.sol": {"content": (CONTRACTS / f"{name}.sol").read_text()} for name in NAMES}
    completed = subprocess.run(
        ["npx", "--yes", "--package", f"solc@{COMPILER}", "solcjs", "--standard-json"],
        input=json.dumps({"language": "Solidity", "sources": sources, "settings": SETTINGS}),
        capture_output=True,
        text=True,
        check=True,
    )
    # The compiler may print warnings before the JSON.
    output = json.loads(completed.stdout[completed.stdout.index("{") :])
    if errors := output.get("errors"):
        raise ValueError("\n".join(error["formattedMessage"] for error in errors))
    texts = {}
    for name in NAMES:
        contract = output["contracts"][f"{name}.sol"][name]
        content = {
            "source_sha256": source_sha256(name),
            "compiler": COMPILER,
            "settings": SETTINGS,
            "runtime": contract["evm"]["deployedBytecode"]["object"],
            "abi": contract["abi"],
        }
        texts[name] = json.dumps(content, indent=1) + "\n"
    return texts


if __name__ == "__main__":
    for contract_name, text in compile_all().items():
        (CONTRACTS / f"{contract_name}.json").write_text(text)
        sys.stdout.write(f"{contract_name}.json\n")
