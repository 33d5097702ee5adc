"""`manage.py mcp_bundle`: write the bundle (.mcpb) that installs the MCP endpoint in Claude Desktop."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from catalogue.mcp import bundle


class Command(BaseCommand):
    help = "Write the MCP bundle for the address of this server (PUBLIC_BASE_URL)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--output", type=Path, default=Path("tablewire.mcpb"), help="else tablewire.mcpb")
        parser.add_argument("--sign-in", action="store_true", help="ask the person to sign in to an account")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["output"]
        try:
            bundle.write_bundle(path, has_sign_in=options["sign_in"])
        except OSError as error:
            raise CommandError(f"Cannot write {path}: {error.strerror}") from error
        url = bundle.manifest(has_sign_in=options["sign_in"])["server"]["mcp_config"]["args"][2]
        self.stdout.write(f"Wrote {path}, for {url}")
