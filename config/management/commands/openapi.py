"""`manage.py openapi`: write the OpenAPI documents, or check that they are up to date."""

import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.webhooks import openapi as webhooks_openapi
from config import urls
from framework.api.openapi import schema

DOCUMENTS = {
    "management": (
        "Tablewire management API",
        "Orders and table reservations of a restaurant. An API key belongs to one venue.",
        urls.management,
    ),
    "management-v2": (
        "Tablewire management API, version 2",
        "Version 1, and operations on a single reservation. An API key belongs to one venue.",
        urls.management_v2,
    ),
    "data": (
        "Tablewire data API",
        "Search restaurants in the cities that `GET /v1/markets` lists: near a place, open now, by cuisine. Core"
        " fields need no key.",
        urls.data,
    ),
}
# Of the data API, as tests/contract/test_data_examples.py records them. Read only here, not when a process starts.
DATA_EXAMPLES = Path(settings.BASE_DIR) / "catalogue" / "api" / "openapi_examples.json"


class Command(BaseCommand):
    help = "Write the documents of docs/openapi; with --check, fail if one is out of date."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="write nothing; fail if a document is out of date")

    def handle(self, *args: object, **options: Any) -> None:
        for name, (title, description, patterns) in DOCUMENTS.items():
            examples = json.loads(DATA_EXAMPLES.read_text()) if name == "data" else {}
            document = schema.generate(title, description, patterns, examples=examples)
            if name.startswith("management"):
                document["webhooks"] = webhooks_openapi.build_webhooks_section()
            text = schema.render_document(document)
            file = schema.FOLDER / f"{name}.json"
            if not options["check"]:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            elif not file.exists() or file.read_text() != text:
                raise CommandError(f"{file.name} is out of date; run `manage.py openapi`.")
