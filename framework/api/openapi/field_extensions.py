"""OpenAPI schemas of our serializer fields."""

from typing import Any

from drf_spectacular.extensions import OpenApiSerializerExtension, OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema

from framework.api.fields import (
    CLEAN,
    CLEAN_LINE,
    ConstantField,
    MetadataField,
    PublicIdField,
    StrictSerializer,
    TextField,
)
from framework.public_ids import pattern


class StrictSerializerSchema(OpenApiSerializerExtension):
    """Documents that unknown keys are errors."""

    target_class = StrictSerializer
    match_subclasses = True

    def map_serializer(self, auto_schema: AutoSchema, direction: Any) -> dict[str, Any]:
        schema: dict[str, Any] = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)  # noqa: SLF001  # the documented way to call the default
        return schema | {"additionalProperties": False}


class TextSchema(OpenApiSerializerFieldExtension):
    target_class = TextField
    match_subclasses = True
    priority = 1

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Any) -> dict[str, Any]:
        field: TextField = self.target
        schema: dict[str, Any] = {"type": "string"}
        if field.read_only:
            schema |= {"pattern": field.pattern} if field.pattern else {}
        else:
            min_length = field.min_length or (0 if field.allow_blank else 1)
            expression = field.pattern or (field.clean if field.allow_blank else not_blank(field.control))
            schema |= {"minLength": min_length} if min_length else {}
            schema |= {"maxLength": field.max_length} if field.max_length else {}
            schema["pattern"] = expression
        schema |= {"format": field.format} if field.format else {}
        return schema


def not_blank(control: str) -> str:
    """The pattern of a text without these control characters, of which one character is not white space.

    Without lookahead, which strict decoders refuse, and linear.
    """
    return rf"^[^\S{control}]*[^\s{control}][^{control}]*$"


class MetadataSchema(OpenApiSerializerFieldExtension):
    target_class = MetadataField

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Any) -> dict[str, Any]:
        return {
            "type": "object",
            "maxProperties": MetadataField.KEYS,
            "propertyNames": {
                "type": "string",
                "minLength": 1,
                "maxLength": MetadataField.KEY_LENGTH,
                "pattern": CLEAN_LINE,
            },
            "additionalProperties": {"type": "string", "maxLength": MetadataField.TEXT_LENGTH, "pattern": CLEAN},
        }


class PublicIdSchema(OpenApiSerializerFieldExtension):
    target_class = PublicIdField

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Any) -> dict[str, Any]:
        return {"type": "string", "pattern": pattern(self.target.prefix)}


class ConstantSchema(OpenApiSerializerFieldExtension):
    target_class = ConstantField

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Any) -> dict[str, Any]:
        return {"type": "string", "const": self.target.value}
