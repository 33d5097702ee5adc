"""The committed contracts match their source."""

import pytest

from payments.devchain import artifacts


def test_every_artifact_was_compiled_from_the_committed_source() -> None:
    sources = {file.stem for file in artifacts.CONTRACTS.glob("*.sol")}
    assert sources == set(artifacts.NAMES) == {file.stem for file in artifacts.CONTRACTS.glob("*.json")}
    assert {name: artifacts.load_artifact(name).source_sha256 for name in sources} == {
        name: artifacts.source_sha256(name) for name in sources
    }


@pytest.mark.outside
def test_compiling_again_gives_the_same_artifacts() -> None:
    made = artifacts.compile_all()
    assert made == {name: (artifacts.CONTRACTS / f"{name}.json").read_text() for name in artifacts.NAMES}
