"""The committed contracts match their source."""

import pytest

from tests.support import contracts


def test_every_artifact_was_compiled_from_the_committed_source() -> None:
    sources = {file.stem for file in contracts.CONTRACTS.glob("*.sol")}
    assert sources == set(contracts.NAMES) == {file.stem for file in contracts.CONTRACTS.glob("*.json")}
    assert {name: contracts.load_artifact(name).source_sha256 for name in sources} == {
        name: contracts.source_sha256(name) for name in sources
    }


@pytest.mark.outside
def test_compiling_again_gives_the_same_artifacts() -> None:
    made = contracts.compile_all()
    assert made == {name: (contracts.CONTRACTS / f"{name}.json").read_text() for name in contracts.NAMES}
