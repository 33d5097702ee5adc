"""The bundle that installs the endpoint in Claude Desktop."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command

from catalogue.mcp.server import SERVER

# Of the manifest's schema 0.3, beside the required ones.
REQUIRED = {"name", "version", "description", "author", "server"}
OPTIONAL = {
    *("manifest_version", "display_name", "documentation", "privacy_policies", "tools", "tools_generated"),
    *("prompts_generated", "compatibility"),
}


@pytest.fixture(autouse=True)
def _base(settings: LazySettings) -> None:
    settings.PUBLIC_BASE_URL = "https://api.example.com"


def write(folder: Path, *options: str) -> dict[str, Any]:
    """The manifest of a bundle that the command writes."""
    path = folder / "tablewire.mcpb"
    call_command("mcp_bundle", "--output", str(path), *options)
    with zipfile.ZipFile(path) as bundle:
        assert bundle.namelist() == ["manifest.json"]
        manifest: dict[str, Any] = json.loads(bundle.read("manifest.json"))
    return manifest


def test_the_bundle_starts_a_bridge_to_the_endpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = write(tmp_path)
    assert set(manifest) == REQUIRED | OPTIONAL
    assert manifest["server"] == {
        "type": "node",
        "entry_point": "manifest.json",
        "mcp_config": {
            "command": "npx",
            "args": ["-y", "mcp-remote@0.15.1", "https://api.example.com/mcp", "--transport", "http-only"],
        },
    }
    assert (manifest["name"], manifest["version"]) == (SERVER.name, SERVER.version)
    assert [tool["name"] for tool in manifest["tools"]] == [tool.name for tool in SERVER.tools]
    assert capsys.readouterr().out == f"Wrote {tmp_path / 'tablewire.mcpb'}, for https://api.example.com/mcp\n"


def test_a_bundle_with_sign_in_leads_to_the_address_that_asks_for_it(tmp_path: Path) -> None:
    assert "https://api.example.com/mcp/account" in write(tmp_path, "--sign-in")["server"]["mcp_config"]["args"]


def test_a_bundle_of_a_server_without_https_says_so_to_the_bridge(tmp_path: Path, settings: LazySettings) -> None:
    settings.PUBLIC_BASE_URL = "http://127.0.0.1:8000"
    args = write(tmp_path)["server"]["mcp_config"]["args"]
    assert args[2:] == ["http://127.0.0.1:8000/mcp", "--transport", "http-only", "--allow-http"]


def test_a_bundle_of_the_same_server_is_the_same_file(tmp_path: Path) -> None:
    write(tmp_path)
    first = (tmp_path / "tablewire.mcpb").read_bytes()
    write(tmp_path)
    assert (tmp_path / "tablewire.mcpb").read_bytes() == first


def test_a_folder_that_is_not_there_is_an_error_in_words(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"Cannot write .*: No such file or directory"):
        call_command("mcp_bundle", "--output", str(tmp_path / "none" / "a.mcpb"))
