"""The MCP endpoint of the data API: the same content, payments, rate limits and ledger as REST."""

from django.http import HttpRequest
from django.views.decorators.csrf import csrf_exempt

from catalogue.mcp.middleware import parsed_message
from catalogue.mcp.server import SERVER
from framework.mcp.jsonrpc import JSONRPCError
from framework.mcp.responses import MCPResponse, error_response


# Clients have no CSRF token; the middleware checks the Origin header and the credentials.
@csrf_exempt
def serve(request: HttpRequest) -> MCPResponse:
    """Answer the message that catalogue.mcp.middleware has parsed."""
    message = parsed_message(request)
    if isinstance(message, JSONRPCError):
        return error_response(message, id_=message.id)
    return SERVER.handle(request, message)
