"""The contracts as they were compiled: read by the node, made anew by `python -m payments.devchain.artifacts`."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CONTRACTS = Path(__file__).parent / "contracts"
NAMES = ("Usdc", "UtilityToken", "PriceFeed", "Multicall")
COMPILER = "0.8.37"
SETTINGS: Mapping[str, Any] = {
    # The machine runs this fork, see machine.py.
    "evmVersion": "shanghai",
    "optimizer": {"enabled": True, "runs": 200},
    # Without the hash of what is around the code, the same source gives the same bytes everywhere.
    "metadata": {"bytecodeHash": "none", "appendCBOR": False},
    "outputSelection": {"*": {"*": ["abi", "evm.deployedBytecode.object"]}},
}


@dataclass(frozen=True, slots=True)
class Artifact:
    """A compiled contract: the code that lies at its address, its interface, and of which source."""

    runtime: bytes
    abi: tuple[Mapping[str, Any], ...]
    source_sha256: str


def read(name: str) -> Artifact:
    """The committed artifact of a contract."""
    content = json.loads((CONTRACTS / f"{name}.json").read_bytes())
    return Artifact(
        runtime=bytes.fromhex(content["runtime"]), abi=tuple(content["abi"]), source_sha256=content["source_sha256"]
    )


def source_sha256(name: str) -> str:
    """The fingerprint of a contract's source as it is now."""
    return hashlib.sha256((CONTRACTS / f"{name}.sol").read_bytes()).hexdigest()


def compile_all() -> dict[str, str]:
    """The text of every artifact, by contract, as npm's solc makes it, in seconds.

    npx fetches the compiler. Raises FileNotFoundError without npx, CalledProcessError where npm has not the compiler,
    ValueError with the compiler's words.
    """
    sources = {f"{name}.sol": {"content": (CONTRACTS / f"{name}.sol").read_text()} for name in NAMES}
    done = subprocess.run(  # noqa: S603 - our own words
        ["npx", "--yes", "--package", f"solc@{COMPILER}", "solcjs", "--standard-json"],  # noqa: S607 - as PATH has it
        input=json.dumps({"language": "Solidity", "sources": sources, "settings": SETTINGS}),
        capture_output=True,
        text=True,
        check=True,
    )
    # It may say things before the JSON.
    answer = json.loads(done.stdout[done.stdout.index("{") :])
    if found := answer.get("errors"):
        raise ValueError("\n".join(error["formattedMessage"] for error in found))
    texts = {}
    for name in NAMES:
        contract = answer["contracts"][f"{name}.sol"][name]
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
    for written, text in compile_all().items():
        (CONTRACTS / f"{written}.json").write_text(text)
        sys.stdout.write(f"{written}.json\n")
