"""The Model Context Protocol over HTTP, in both of its eras; of what is served by it knows the OpenAPI document alone.

messages     what a caller sends: one JSON-RPC message in a POST
eras         which revision it speaks, and what that asks of its headers
answers      what it gets: results, and the errors of the protocol
schemas      JSON Schema of arguments and results, out of the OpenAPI document
tools        what can be called, and what a call gives
asking       a question to the person behind the caller (elicitation)
resources    what can be read; prompts, what can be begun with; completion of both
server       which message goes where
"""
