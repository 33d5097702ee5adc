"""The program of docs/receipts.md that verifies receipts, as its readers have it."""

import base64
import json
import re
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from django.conf import settings

from payments.x402.signing_keys import build_did_document


def program() -> str:
    """The text of the program."""
    page = (Path(settings.BASE_DIR) / "docs" / "receipts.md").read_text()
    (text,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    return str(text)


def load_program() -> ModuleType:
    """The program as a module."""
    module = ModuleType("verify_receipt")
    exec(compile(program(), "verify_receipt.py", "exec"), module.__dict__)  # noqa: S102 - a page of ours
    return module


VERIFIER = load_program()


def read_header(text: str) -> Any:
    """The JSON of a header in base64."""
    return json.loads(base64.b64decode(text))


def verify(response: Any) -> Mapping[str, Any]:
    """What the statement of this answer says. Raises ValueError and others if the answer does not prove itself."""
    settled = VERIFIER.decode(response["PAYMENT-RESPONSE"], b"+/")
    said: Mapping[str, Any] = VERIFIER.verify(
        settings.PUBLIC_BASE_URL,
        json.loads(settled),
        response["Receipt-Statement"],
        response.content,
        build_did_document(),
    )
    return said
