"""JSON Schemas of the bodies of requests and responses, for the OpenAPI document."""

from typing import Any

Schema = dict[str, Any]


def reference(name: str) -> Schema:
    """Reference to the schema of that name."""
    return {"$ref": f"#/components/schemas/{name}"}


def _object(properties: dict[str, Schema], required: list[str] | None = None) -> Schema:
    """Object; `required` members default to all."""
    required = list(properties) if required is None else required
    return {"type": "object", "properties": properties, "required": required}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _one_or_list(schema: Schema) -> Schema:
    return {"oneOf": [schema, _list(schema)]}


def _of_strings(*values: str) -> Schema:
    return {"type": "string", "enum": list(values)}


def _tensor(**data: Schema) -> Schema:
    """Tensor of the Open Inference Protocol, or what describes one."""
    described = {"name": TEXT, "datatype": _DATATYPE, "shape": _list({"type": "integer"})}
    return _object({**described, **data}, list(described))


TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "integer"}
_OK: Schema = {"const": "ok"}
_DATATYPE = _of_strings(
    *("BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64"),
    *("FP16", "FP32", "FP64", "BYTES"),
)
_SIGNATURE_NAME: Schema = {"type": "string", "default": "serving_default"}

SCHEMAS: dict[str, Schema] = {
    "Error": _object({"error": {"type": "string", "description": "One sentence."}}),
    "Glossary": {
        "type": "object",
        "description": "Translation of each term.",
        "additionalProperties": TEXT,
    },
    # TensorFlow Serving
    "PredictRequest": {
        **_object(
            {
                "signature_name": _SIGNATURE_NAME,
                "instances": {
                    "type": "array",
                    "description": "Rows: values of the only input, or objects of values by name "
                    "of the input.",
                },
                "inputs": {
                    "description": "Columns: values of the only input, or an object of columns by "
                    "name of the input.",
                },
                "glossary": reference("Glossary"),
            },
            [],
        ),
        "oneOf": [{"required": ["instances"]}, {"required": ["inputs"]}],
    },
    "PredictResponse": {"oneOf": [_object({"predictions": _list({})}), _object({"outputs": {}})]},
    "ModelStatus": _object(
        {
            "model_version_status": _list(
                _object(
                    {
                        "version": TEXT,
                        "state": _of_strings("LOADING", "AVAILABLE", "UNLOADING", "END"),
                        "status": _object({"error_code": TEXT, "error_message": TEXT}),
                    }
                )
            )
        }
    ),
    "SignatureMetadata": _object(
        {
            "model_spec": _object({"name": TEXT, "signature_name": TEXT, "version": TEXT}),
            "metadata": _object({"signature_def": {"type": "object"}}),
        }
    ),
    # Open Inference Protocol
    "ServerMetadata": _object({"name": TEXT, "version": TEXT, "extensions": _list(TEXT)}),
    "ModelMetadata": _object(
        {
            "name": TEXT,
            "versions": _list(TEXT),
            "platform": TEXT,
            "inputs": _list(_tensor()),
            "outputs": _list(_tensor()),
        }
    ),
    "InferRequest": _object(
        {
            "id": TEXT,
            "parameters": _object({"signature_name": _SIGNATURE_NAME}, []),
            "inputs": _list(_tensor(data=_list({}))),
            "outputs": _list(_object({"name": TEXT})),
        },
        ["inputs"],
    ),
    "InferResponse": _object(
        {
            "model_name": TEXT,
            "model_version": TEXT,
            "id": TEXT,
            "outputs": _list(_tensor(data=_list({}))),
        },
        ["model_name", "model_version", "outputs"],
    ),
    "ModelReady": _object({"status": _OK, "version": _NUMBER}),
    "RepositoryIndex": _list(
        _object(
            {
                "name": TEXT,
                "version": TEXT,
                "state": _of_strings("READY", "UNAVAILABLE"),
                "reason": TEXT,
            }
        )
    ),
    # LibreTranslate
    "TranslateRequest": _object(
        {
            "q": _one_or_list(TEXT),
            "source": {"type": "string", "description": "Code of the language, or `auto`."},
            "target": TEXT,
            "format": {
                **_of_strings("text", "html"),
                "default": "text",
                "description": "Tags and character entities are kept in both.",
            },
            "alternatives": {"type": "integer", "minimum": 0, "default": 0},
            "scores": {
                "type": "boolean",
                "default": False,
                "description": "Whether the response has `scores`, `isUncertain` and "
                "`isOtherLanguage`.",
            },
            "glossary": reference("Glossary"),
        },
        ["q", "source", "target"],
    ),
    "TranslateResponse": _object(
        {
            "translatedText": _one_or_list(TEXT),
            "alternatives": {"oneOf": [_list(TEXT), _list(_list(TEXT))]},
            "detectedLanguage": _one_or_list(reference("Detection")),
            "scores": {
                **_list({}),
                "description": "Log probabilities of the translation and of each alternative, "
                "divided by the length penalty of the search.",
            },
            "isUncertain": {
                **_one_or_list({"type": "boolean"}),
                "description": "Whether the model is not sure of the translation.",
            },
            "isOtherLanguage": {
                **_one_or_list({"type": "boolean"}),
                "description": "Whether the text has words, but no letter of the source language. "
                "It is returned as given, without alternatives.",
            },
        },
        ["translatedText"],
    ),
    "DetectRequest": _object({"q": _one_or_list(TEXT)}),
    "Detection": _object(
        {"confidence": {"type": "number", "minimum": 0, "maximum": 100}, "language": TEXT}
    ),
    "Detections": _list(reference("Detection")),
    "Languages": _list(_object({"code": TEXT, "name": TEXT, "targets": _list(TEXT)})),
    # Health and page
    "Live": _object({"status": _OK}),
    "Ready": _object(
        {"status": _OK, "models": {"type": "object", "additionalProperties": _NUMBER}}
    ),
    "NotReady": _object({"status": _of_strings("loading", "warming up")}),
    "PageSettings": _object(
        {
            "name": TEXT,
            "version": _NUMBER,
            "source": TEXT,
            "target": TEXT,
            "max_characters": _NUMBER,
            "max_length": _NUMBER,
            "examples": _list(TEXT),
            "facts": {"type": "object", "additionalProperties": TEXT},
            "models": _list(TEXT),
            "can_stream": {"type": "boolean"},
        }
    ),
}
