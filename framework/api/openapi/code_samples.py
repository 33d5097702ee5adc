"""Samples of an operation's request in curl, Python and JavaScript: `x-codeSamples` of the OpenAPI documents."""

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

# The variable from which samples read the API key or the token of a wallet session.
KEY_VARIABLE = "API_KEY"
ABSENT = object()
# The functions of httpx for these take no body.
METHODS_WITHOUT_BODY = ("GET", "HEAD", "DELETE")


@dataclass(frozen=True, slots=True)
class ExampleRequest:
    """A request that the API answers as its example shows; `body` is ABSENT if it has none."""

    method: str
    url: str
    headers: Mapping[str, str]
    is_signed_in: bool
    body: Any = ABSENT

    @property
    def has_body(self) -> bool:
        return self.body is not ABSENT


def code_samples(request: ExampleRequest) -> list[dict[str, str]]:
    """The samples in the form of `x-codeSamples`."""
    return [
        {"lang": "Shell", "label": "curl", "source": curl_sample(request)},
        {"lang": "Python", "label": "Python", "source": python_sample(request)},
        {"lang": "JavaScript", "label": "JavaScript", "source": javascript_sample(request)},
    ]


def curl_sample(request: ExampleRequest) -> str:
    """A command for a POSIX shell."""
    parts = [f"curl -s{'' if request.method == 'GET' else f'X {request.method}'} {shlex.quote(request.url)}"]
    if request.is_signed_in:
        parts.append(f'-H "Authorization: Bearer ${KEY_VARIABLE}"')
    parts += [f"-H {shlex.quote(f'{name}: {value}')}" for name, value in request.headers.items()]
    if request.has_body:
        body = json.dumps(request.body, indent=2, ensure_ascii=False)
        parts += ["-H 'Content-Type: application/json'", f"-d {shlex.quote(body)}"]
    return " \\\n  ".join(parts) + "\n"


def python_sample(request: ExampleRequest) -> str:
    """A program that uses httpx."""
    headers = header_literals(request)
    if request.is_signed_in:
        headers.insert(0, f'"Authorization": f"Bearer {{os.environ[\'{KEY_VARIABLE}\']}}"')
    function, lines = request.method.lower(), [f'    "{request.url}",']
    if request.has_body and request.method in METHODS_WITHOUT_BODY:
        function, lines = "request", [f'    "{request.method}",', *lines]
    lines += [f"    headers={{{', '.join(headers)}}},"] if headers else []
    lines += [f"    json={python_literal(request.body)},"] if request.has_body else []
    return "\n".join(
        [
            *(["import os", ""] if request.is_signed_in else []),
            *("import httpx", "", f"response = httpx.{function}("),
            *lines,
            *(")", "response.raise_for_status()"),
            "print(response.json() if response.content else response.status_code)",
            "",
        ]
    )


def header_literals(request: ExampleRequest) -> list[str]:
    """The headers as members of a literal, in Python and in JavaScript."""
    return [f'"{name}": {json.dumps(value, ensure_ascii=False)}' for name, value in request.headers.items()]


def python_literal(value: Any) -> str:
    """JSON as a Python literal, indented as an argument."""
    names = {"true": "True", "false": "False", "null": "None"}
    tokens = r'"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b'
    text = json.dumps(value, indent=4, ensure_ascii=False)
    return re.sub(tokens, lambda match: names.get(match[0], match[0]), text).replace("\n", "\n    ")


def javascript_sample(request: ExampleRequest) -> str:
    """A module for browsers, Node.js and Deno."""
    headers = header_literals(request)
    if request.has_body:
        headers.insert(0, '"Content-Type": "application/json"')
    if request.is_signed_in:
        headers.insert(0, f'"Authorization": `Bearer ${{process.env.{KEY_VARIABLE}}}`')
    options = [f'  method: "{request.method}",'] if request.method != "GET" else []
    options += [f"  headers: {{ {', '.join(headers)} }},"] if headers else []
    if request.has_body:
        body = json.dumps(request.body, indent=2, ensure_ascii=False).replace("\n", "\n  ")
        options.append(f"  body: JSON.stringify({body}),")
    opened = [f'const response = await fetch("{request.url}", {{', *options, "});"]
    plain = [f'const response = await fetch("{request.url}");']
    return "\n".join(
        [
            *(opened if options else plain),
            "if (!response.ok) throw new Error(await response.text());",
            "console.log(response.status === 204 ? 204 : await response.json());",
            "",
        ]
    )


def example_request(
    base: str, method: str, path: str, operation: Mapping[str, Any], recorded: Mapping[str, Any]
) -> ExampleRequest:
    """The request of the operation's examples: as `recorded` has it, or with ids and values of the example answer."""
    body = first_example(operation.get("requestBody", {}))
    if "path" in recorded:
        headers = recorded.get("headers", {})
        is_signed_in = recorded["is_signed_in"]
        return ExampleRequest(method.upper(), f"{base}{recorded['path']}", headers, is_signed_in, body)
    good = next(response for status, response in operation["responses"].items() if status.startswith("2"))
    answer = first_example(good)
    needed = [parameter for parameter in operation.get("parameters", ()) if parameter.get("required")]
    query = {one["name"]: find_value(answer, one["name"]) for one in needed if one["in"] == "query"}
    for one in needed:
        if one["in"] == "path":
            examples = one.get("schema", {}).get("examples") or [find_value(answer, one["name"])]
            path = path.replace(f"{{{one['name']}}}", quote(examples[0], safe=""))
    url = f"{base}{path}{'?' if query else ''}{urlencode(query)}"
    return ExampleRequest(method.upper(), url, {}, is_signed_in=bool(operation.get("security")), body=body)


def find_value(answer: Any, name: str) -> str:
    """The value of this name in an example answer, or in the first row of a list in it; else the name in braces."""
    found = [answer] if isinstance(answer, Mapping) else []
    found += [rows[0] for one in found for rows in one.values() if isinstance(rows, list) and rows]
    return next((str(one[name]) for one in found if isinstance(one, Mapping) and name in one), f"{{{name}}}")


def first_example(described: Mapping[str, Any]) -> Any:
    """The first example of a body in JSON; ABSENT if there is none."""
    content = described.get("content", {}).get("application/json", {})
    return next((example["value"] for example in content.get("examples", {}).values()), ABSENT)
