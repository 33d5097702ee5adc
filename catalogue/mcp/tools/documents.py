"""The pair `search` and `fetch`, by which ChatGPT's deep research and company knowledge read any server.

Their shapes are those of https://developers.openai.com/api/docs/mcp: `results` with id, title and url, and a document
with id, title, text, url and metadata. An id is the slug of a restaurant.
"""

from typing import Any

import orjson

from catalogue import responses
from catalogue.field_groups import CORE
from catalogue.filters import restaurants, search
from catalogue.mcp.tools.declarations import declare
from framework.api.urls import public_url
from framework.mcp.responses import ToolResult
from framework.mcp.schemas import Schema
from framework.mcp.tools import ToolCall, Values

TEXT: Schema = {"type": "string"}
DOCUMENT: Schema = {"type": "object", "properties": {"id": TEXT, "title": TEXT, "url": TEXT}}


def results_schema() -> Schema:
    results = {"type": "array", "items": DOCUMENT}
    return {"type": "object", "properties": {"results": results}, "required": ["results"]}


def document_schema() -> Schema:
    metadata = {"type": "object", "additionalProperties": TEXT}
    properties = {**DOCUMENT["properties"], "text": TEXT, "metadata": metadata}
    return {"type": "object", "properties": properties, "required": list(properties)}


def search_documents(call: ToolCall, values: Values) -> ToolResult:
    page = orjson.loads(responses.search_results(values, now=call.now).body)
    found = [
        {
            "id": hit["slug"],
            "title": ", ".join(filter(None, (hit["name"], hit["neighborhood"], hit["city"]))),
            "url": _page(hit["slug"]),
        }
        for hit in page["data"]
    ]
    return ToolResult(orjson.dumps({"results": found}))


def fetch_document(call: ToolCall, values: Values) -> ToolResult:
    record = orjson.loads(responses.restaurant(values["id"], {"fields": [CORE]}, now=call.now).body)
    document = {
        "id": record["slug"],
        "title": record["name"],
        "text": "\n".join(_lines(record)),
        "url": _page(record["slug"]),
        "metadata": {
            "market": record["market"],
            "status": record["status"],
            "attribution": "; ".join(line["text"] for line in record["attribution"]),
        },
    }
    return ToolResult(orjson.dumps(document))


def _page(slug: str) -> str:
    return public_url(f"/restaurants/{slug}")


def _lines(record: dict[str, Any]) -> list[str]:
    """The free record as lines of text; what is not known is left out."""
    hours = record["hours"] or {}
    known = [name for name, value in (record["attributes"] or {}).items() if value not in (False, None, "no")]
    level = record["price_level"]
    members = {
        "Cuisine": record["cuisine"],
        "Address": record["address"]["formatted"],
        "Neighborhood": record["neighborhood"],
        "Phone": record["phone"],
        "Website": record["website"],
        "Rating": record["rating"] and f"{record['rating']} of 5 from {record['review_count']} reviews",
        "Price level": level and f"{level} of 4",
        "Hours": "; ".join(hours.get("display") or ()),
        "Has": ", ".join(known),
    }
    return [record["name"], *(f"{name}: {value}" for name, value in members.items() if value)]


SEARCH = declare("search", search_documents, serializer=search.SearchParams, output=results_schema)
FETCH = declare("fetch", fetch_document, serializer=restaurants.RestaurantParams, output=document_schema)
