"""The Model Context Protocol over Streamable HTTP, stateless and with handshake; schemas come from OpenAPI documents.

jsonrpc             parses a request: one JSON-RPC message in a POST
protocol_versions   the protocol version of a request, and the checks of its headers
responses           results and protocol errors
schemas             JSON Schema of arguments and results, from the OpenAPI document
tools               tools, and the validation of their arguments
elicitation         questions to the user of the client
resources           resources, prompts, and the completion of their arguments
server              dispatches messages
"""
