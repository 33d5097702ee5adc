"""Generate the typed part of the package from the OpenAPI documents, into a folder: `python generate.py FOLDER`.

It needs openapi-python-client in the version of pyproject.toml; the build of the package brings it.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
# A source distribution has copies of the documents.
DOCUMENTS = HERE / "openapi" if (HERE / "openapi").exists() else HERE.parents[1] / "docs" / "openapi"
PARTS = {"management": "management-v2.json", "data": "data.json"}
METHODS = ("get", "post", "put", "patch", "delete")
# The transport sends payments, and the models know no 304.
HIDDEN_PARAMETERS = ("If-None-Match", "PAYMENT-SIGNATURE", "SIGN-IN-WITH-X", "X-Payment")


def generate(folder: Path) -> None:
    """Write the packages `management` and `data`, and the module `_keyed_operations`, into the folder."""
    keyed: list[tuple[str, str]] = []
    for part, name in PARTS.items():
        document = json.loads((DOCUMENTS / name).read_text())
        keyed += prepare(document)
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch) / "openapi.json"
            file.write_text(json.dumps(document))
            run_generator(file, folder / part)
    lines = "".join(f"    {operation!r},\n" for operation in keyed)
    (folder / "_keyed_operations.py").write_text(
        f'"""The operations that take an Idempotency-Key: method and path."""\n\nKEYED_OPERATIONS = (\n{lines})\n'
    )


def run_generator(document: Path, folder: Path) -> None:
    """Generate one package, without a project around it; warnings about parts of the document are errors."""
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--path", str(document), "--meta", "none"]
    options = ["--output-path", str(folder), "--custom-template-path", str(HERE / "templates")]
    subprocess.run([*command, *options, "--overwrite", "--fail-on-warning"], check=True)


def prepare(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Leave in the document what the models are for; return the operations that take an Idempotency-Key.

    Errors are raised by the transport, redirects are followed, and downloads are plain URLs of their records.
    """
    keyed = []
    shared = document["components"].get("parameters", {})
    for path, operations in list(document["paths"].items()):
        for method in [name for name in METHODS if name in operations]:
            operation = operations[method]
            responses = {status: answer for status, answer in operation["responses"].items() if status < "300"}
            contents = [answer.get("content", {"application/json": None}) for answer in responses.values()]
            if any("application/json" not in content for content in contents):
                del operations[method]
                continue
            operation["responses"] = responses
            # One class of client for all operations: whether it has credentials is the server's to judge.
            operation.pop("security", None)
            given = [
                shared[each["$ref"].split("/")[-1]] if "$ref" in each else each
                for each in operation.get("parameters", [])
            ]
            kept = [each for each in given if each.get("required") or each["name"] not in HIDDEN_PARAMETERS]
            for parameter in kept:
                # What the server does by default it does without being asked.
                parameter.get("schema", {}).pop("default", None)
                if parameter["name"] == "Idempotency-Key":
                    parameter["required"] = False
                    keyed.append((method.upper(), path))
            operation["parameters"] = kept
        if not any(name in operations for name in METHODS):
            del document["paths"][path]
    return keyed


if __name__ == "__main__":
    generate(Path(sys.argv[1]))
