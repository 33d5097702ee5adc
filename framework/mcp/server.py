"""Which message goes where, in both eras: discovery, tools, resources, prompts and completion."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson
from django.http import HttpRequest
from django.utils import timezone

from framework.api import error_handler
from framework.errors import ApiError, ErrorCode, NotFound
from framework.mcp import protocol_versions, responses
from framework.mcp.elicitation import Asked, Asker
from framework.mcp.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, REFUSED, Fault, Id, Message
from framework.mcp.protocol_versions import Era
from framework.mcp.resources import Complete, Prompt, Resource, Values
from framework.mcp.responses import Answer, Result
from framework.mcp.tools import Call, Tool, plain

logger = logging.getLogger("tablewire.mcp")

# Lists change when we publish a new version, and are the same for everybody.
CACHED = {"ttlMs": 300_000, "cacheScope": "public"}
OF_CALLER = {"ttlMs": 0, "cacheScope": "private"}
# What is read is as fresh as the free answers of REST, which caches keep for a minute.
OF_ALL = {"ttlMs": 60_000, "cacheScope": "public"}
# Beside a refusal, for programs; its words are the content.
ERROR = "tablewire/error"

Members = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Server:
    """What is served, and by what name. `refused` words a refusal for a caller's model; `caller` names who calls."""

    name: str
    title: str
    version: str
    description: str
    website: Callable[[], str]
    instructions: str
    tools: Sequence[Tool]
    resources: Sequence[Resource] = ()
    prompts: Sequence[Prompt] = ()
    refused: Callable[[Call, ApiError], Result]
    caller: Callable[[HttpRequest], str]

    @cached_property
    def by_name(self) -> Mapping[str, Tool]:
        """The tools by name."""
        return {tool.name: tool for tool in self.tools}

    @cached_property
    def definitions(self) -> orjson.Fragment:
        """The tools as they are listed, written once: they are the same for everybody while we run."""
        return orjson.Fragment(orjson.dumps([tool.definition for tool in self.tools]))

    @property
    def info(self) -> dict[str, Any]:
        """Who serves."""
        return {
            "name": self.name,
            "title": self.title,
            "version": self.version,
            "description": self.description,
            "websiteUrl": self.website(),
        }

    @property
    def capabilities(self) -> dict[str, Any]:
        """What is served. Nothing is announced by itself: lists do not change while we run."""
        return {"tools": {}, "resources": {}, "prompts": {}, "completions": {}}

    def answer(self, request: HttpRequest, message: Message) -> Answer:
        """Answer a message; never raises what its caller is to blame for, and of our own faults tells nothing."""
        era: Era | None = None
        try:
            era = protocol_versions.of(request, message)
            if message.id is None:
                # A notification; none of them asks anything of us.
                return Answer(None, status=202)
            if message.method == "tools/call":
                return self.called(request, message, message.id, era)
            members = self.members(request, message, era)
        except Fault as fault:
            return responses.error(fault, id=message.id, era=era)
        except Exception as error:  # noqa: BLE001  # what nobody has foreseen is logged
            refusal = refusal_of(error, request, of=message.method[:80])
            return responses.error(fault_of(refusal, request), id=message.id, era=era)
        return responses.result(message.id, members, era=era, meta=self.meta(era))

    def meta(self, era: Era) -> Members:
        """What stands beside each result."""
        return {protocol_versions.SERVER_INFO: self.info} if era.is_stateless else {}

    def members(self, request: HttpRequest, message: Message, era: Era) -> Members:
        """The members of the result of any method but tools/call. Raises Fault, and what a resource raises."""
        if message.refusal:
            raise message.refusal
        match message.method:
            case "initialize" if not era.is_stateless:
                return self.initialized(message)
            case "ping" if not era.is_stateless:
                return {}
            case "server/discover" if era.is_stateless:
                return {
                    "supportedVersions": list(protocol_versions.SUPPORTED),
                    "capabilities": self.capabilities,
                    "instructions": self.instructions,
                    **CACHED,
                }
            case "tools/list":
                return page(message, {"tools": self.definitions})
            case "resources/list":
                return page(message, {"resources": [one.definition for one in self.resources if not one.is_template]})
            case "resources/templates/list":
                templates = [one.definition for one in self.resources if one.is_template]
                return page(message, {"resourceTemplates": templates})
            case "resources/read":
                return self.read(request, message)
            case "prompts/list":
                return page(message, {"prompts": [prompt.definition for prompt in self.prompts]})
            case "prompts/get":
                return self.prompted(message)
            case "completion/complete":
                return self.completed(request, message)
        raise Fault(METHOD_NOT_FOUND, f"Method not found: {message.method[:80]}")

    def initialized(self, message: Message) -> Members:
        """The handshake of clients before 2026-07-28. Nothing of it is remembered."""
        wanted = message.params.get("protocolVersion")
        return {
            "protocolVersion": wanted if wanted in protocol_versions.HANDSHAKE else protocol_versions.HANDSHAKE[0],
            "capabilities": self.capabilities,
            "serverInfo": self.info,
            "instructions": self.instructions,
        }

    def resource(self, uri: str) -> tuple[Resource, Mapping[str, str]] | None:
        """What is read at this URI, and what its template was filled in with."""
        for one in self.resources:
            if found := one.pattern.fullmatch(uri):
                return one, found.groupdict()
        return None

    def read(self, request: HttpRequest, message: Message) -> Members:
        """The content of a resource."""
        uri = message.text("uri")
        found = self.resource(uri)
        if found is None:
            raise Fault(INVALID_PARAMS, "There is no such resource.", more={"uri": uri})
        resource, names = found
        try:
            text = resource.read(request, **names).decode()
        except NotFound as refusal:
            raise Fault(INVALID_PARAMS, refusal.message, more={"uri": uri}) from refusal
        caching = OF_ALL if resource.is_public else OF_CALLER
        return {"contents": [{"uri": uri, "mimeType": resource.mime_type, "text": text}], **caching}

    def prompted(self, message: Message) -> Members:
        """A prompt with its arguments filled in."""
        prompt = self.prompt(message.text("name"))
        given = message.members("arguments")
        known = {one.name for one in prompt.arguments}
        if not all(isinstance(value, str) for value in given.values()):
            raise Fault(INVALID_PARAMS, "`params.arguments` must be an object of strings.")
        if strangers := sorted(set(given) - known):
            raise Fault(INVALID_PARAMS, f"Unknown argument `{strangers[0][:80]}`. Known: {', '.join(sorted(known))}.")
        if missing := [one.name for one in prompt.arguments if one.is_required and not given.get(one.name)]:
            raise Fault(INVALID_PARAMS, f"The argument `{missing[0]}` is required.")
        content = {"type": "text", "text": prompt.write(given)}
        return {"description": prompt.description, "messages": [{"role": "user", "content": content}]}

    def prompt(self, name: str) -> Prompt:
        """The prompt of this name. Raises Fault."""
        for prompt in self.prompts:
            if prompt.name == name:
                return prompt
        raise Fault(INVALID_PARAMS, f"There is no prompt `{name[:80]}`.")

    def completed(self, request: HttpRequest, message: Message) -> Members:
        """What an argument of a prompt or a template may be, by its beginning."""
        argument = message.members("argument")
        name, typed = argument.get("name"), argument.get("value")
        if not isinstance(name, str) or not isinstance(typed, str):
            raise Fault(INVALID_PARAMS, "`params.argument` must have a name and a value.")
        given = message.members("context").get("arguments")
        others = given if isinstance(given, dict) else {}
        others = {key: value for key, value in others.items() if isinstance(value, str)}
        complete = self.completion(message.members("ref"), name)
        found = complete(request, typed, others) if complete else Values(())
        return {"completion": found.members}

    def completion(self, ref: Members, name: str) -> Complete | None:
        """How an argument is completed; None where it is not. Raises Fault for what there is not."""
        if ref.get("type") == "ref/prompt":
            prompt = self.prompt(str(ref.get("name")))
            return next((one.complete for one in prompt.arguments if one.name == name), None)
        for resource in self.resources:
            if ref.get("type") == "ref/resource" and resource.uri == ref.get("uri"):
                return resource.completes.get(name)
        raise Fault(INVALID_PARAMS, "`params.ref` names nothing that can be completed.")

    def called(self, request: HttpRequest, message: Message, id_: Id, era: Era) -> Answer:
        """The answer to a call of a tool. Raises Fault for one that cannot be made."""
        result = self.result(request, message, era)
        meta = {**self.meta(era), **result.meta}
        return responses.result(
            id_,
            result.members,
            era=era,
            meta=meta,
            then=result.then,
            is_challenge=result.is_challenge,
        )

    def result(self, request: HttpRequest, message: Message, era: Era) -> Result:
        """What a tool gives; its refusals are results that its caller's model reads."""
        name = message.text("name")
        tool = self.by_name.get(name)
        if tool is None:
            raise Fault(INVALID_PARAMS, f"There is no tool `{name[:80]}`.")
        told = plain(message.members("arguments"))
        call = self.call(request, message, era, tool.name, told)
        try:
            if message.refusal:
                raise message.refusal
            return tool.run(call, tool.read(told))
        except Asked as asked:
            return asked.result
        except Fault:
            raise
        except Exception as error:  # noqa: BLE001  # what nobody has foreseen is logged
            return self.refused(call, refusal_of(error, request, of=f"the tool {tool.name}"))

    def call(self, request: HttpRequest, message: Message, era: Era, tool: str, told: Members) -> Call:
        """The call as its tool sees it."""
        asker = Asker(
            can_ask=era.asks,
            caller=self.caller(request),
            tool=tool,
            told=told,
            responses=message.params.get("inputResponses"),
            state=message.params.get("requestState"),
        )
        return Call(request=request, tool=tool, told=told, meta=message.meta, asker=asker, now=timezone.now())


def page(message: Message, members: dict[str, Any]) -> Members:
    """A list, which has one page. Raises Fault for a cursor, which we have given nobody."""
    if message.params.get("cursor") is not None:
        raise Fault(INVALID_PARAMS, "`params.cursor` is none of ours: each list has one page.")
    return {**members, **CACHED}


def refusal_of(error: Exception, request: HttpRequest, *, of: str) -> ApiError:
    """What a caller is told of an error; where nobody has foreseen it, nothing, and the log has it all."""
    refusal = error_handler.to_api_error(error, {"request": request})
    if refusal is None:
        logger.error("%s broke", of, exc_info=error, extra={"request_id": error_handler.request_id_of(request)})
        refusal = error_handler.InternalError()
    return refusal


def fault_of(refusal: ApiError, request: HttpRequest) -> Fault:
    """A refusal of anything but a tool, as an error of the protocol."""
    codes = {ErrorCode.INTERNAL_ERROR: INTERNAL_ERROR, ErrorCode.INVALID_REQUEST: INVALID_PARAMS}
    told = error_handler.error_body(refusal, request_id=error_handler.request_id_of(request))
    return Fault(codes.get(refusal.code, REFUSED), refusal.message, more=told.get("error", told))


def in_words(refusal: ApiError, *, request_id: str, words: str | None = None) -> Result:
    """A refusal as a result: a sentence for the model, and beside it what a program goes by."""
    told = error_handler.error_body(refusal, request_id=request_id).get(
        "error", {"code": refusal.code, "request_id": request_id}
    )
    return Result(text=words or refusal.message, is_error=True, meta={ERROR: told})
