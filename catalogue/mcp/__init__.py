"""The data API as an MCP endpoint: tools for agents, on the same content, gate, limits and ledger as REST."""

from django.http import HttpRequest
from django.views.decorators.csrf import csrf_exempt

from catalogue.mcp.middleware import arrived
from catalogue.mcp.server import SERVER
from framework.mcp import responses
from framework.mcp.jsonrpc import Fault
from framework.mcp.responses import Answer

__all__ = ["serve"]


# Programs call it, which have no token of a page; the doorway judges who they are and where they come from.
@csrf_exempt
def serve(request: HttpRequest) -> Answer:
    """Answer the message that the doorway has read (catalogue.mcp.middleware)."""
    message = arrived(request)
    if isinstance(message, Fault):
        return responses.error(message, id=message.id)
    return SERVER.answer(request, message)
