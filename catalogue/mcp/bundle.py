"""The MCP bundle (.mcpb): a zip that Claude Desktop installs with a double click.

A bundle starts a program that speaks over stdio. Ours starts `mcp-remote` by npx, which passes the messages on to the
endpoint; Claude Desktop brings Node with it, so the bundle holds nothing but its manifest.
"""

import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
from django.conf import settings

from catalogue.mcp.middleware import SIGN_IN_PATH
from catalogue.mcp.server import SERVER
from framework.api.urls import public_url

MANIFEST_VERSION = "0.3"
MANIFEST_NAME = "manifest.json"
# MIT, https://github.com/geelen/mcp-remote
BRIDGE = "mcp-remote@0.15.1"


def manifest(*, has_sign_in: bool = False) -> dict[str, Any]:
    """The manifest of the bundle; with `has_sign_in` the endpoint asks the person to sign in with the browser."""
    url = public_url(SIGN_IN_PATH if has_sign_in else "/mcp")
    # The bridge refuses plain http but to this machine unless it is told.
    insecure = ["--allow-http"] if urlsplit(url).scheme == "http" else []
    return {
        "manifest_version": MANIFEST_VERSION,
        "name": SERVER.name,
        "display_name": SERVER.title,
        "version": SERVER.version,
        "description": SERVER.description,
        "author": {"name": settings.OPERATOR_NAME or SERVER.title, "url": public_url("/")},
        "documentation": SERVER.website(),
        "privacy_policies": [public_url("/privacy")],
        "server": {
            "type": "node",
            # There is no program of ours to enter; the field is required.
            "entry_point": MANIFEST_NAME,
            "mcp_config": {"command": "npx", "args": ["-y", BRIDGE, url, "--transport", "http-only", *insecure]},
        },
        # As the endpoint lists them; `tools_generated` says that this is no limit.
        "tools": [{"name": tool.name, "description": tool.title} for tool in SERVER.tools],
        "tools_generated": True,
        "prompts_generated": True,
        "compatibility": {"platforms": ["darwin", "win32", "linux"], "runtimes": {"node": ">=18"}},
    }


def write_bundle(path: Path, *, has_sign_in: bool = False) -> None:
    """Write the bundle. Equal manifests make equal files. Raises OSError."""
    entry = zipfile.ZipInfo(MANIFEST_NAME)
    entry.compress_type = zipfile.ZIP_DEFLATED
    content = orjson.dumps(manifest(has_sign_in=has_sign_in), option=orjson.OPT_INDENT_2)
    with zipfile.ZipFile(path, "w") as bundle:
        bundle.writestr(entry, content)
