"""Pages of the server: one to translate, and one that shows the OpenAPI document."""

import json
from functools import partial
from http import HTTPStatus
from importlib.metadata import metadata
from pathlib import Path
from typing import Any, cast

import yaml
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from keras_attn import __version__
from keras_attn.languages import read_language
from keras_attn.serving.apis.api import Api
from keras_attn.serving.errors import RequestError
from keras_attn.serving.servable import Servable
from keras_attn.translation.config import AND, Config

PAGE = Path(__file__).parent / "page"
_OPENAPI = yaml.safe_load((Path(__file__).parent / "apis/openapi.yaml").read_bytes())
# Browsers must revalidate the files of the page, so that they never mix files of two releases.
REVALIDATED = {"Cache-Control": "no-cache"}
# The page loads nothing from other origins and must not be embedded in other pages.
PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    **REVALIDATED,
}


class Website(Api):
    """Routes of the pages, their files and settings, and the OpenAPI document."""

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/", partial(_show, "index.html")),
            Route("/docs", partial(_show, "docs.html")),
            Route("/openapi.json", self._openapi),
            Route("/page/settings.json", self._page_settings),
            Mount("/page", _PageFiles(directory=PAGE)),
        ]

    async def _openapi(self, request: Request) -> Response:
        # The first translator, or the first model until a translator is loaded.
        first = min(self._models.values(), key=lambda one: not (one.current and one.current.config))
        document = openapi(self._settings.root_path, first.name, first.current)
        return Response(document, media_type="application/json")

    async def _page_settings(self, request: Request) -> Response:
        """Settings of the page for a translator: the one that the query names, or the first."""
        translators = self._models.translators_by_name()
        name = request.query_params.get("model", next(iter(translators)))
        if name not in translators:
            raise RequestError(f'There is no translator "{name}".', HTTPStatus.NOT_FOUND)
        with translators[name].use(None) as servable:
            config = cast(Config, servable.config)
            pair = (config.source, config.target)
            return JSONResponse(
                {
                    "name": name,
                    "version": servable.version,
                    "source": config.source,
                    "target": config.target,
                    "max_characters": self._settings.max_characters,
                    "max_length": config.max_length,
                    "examples": servable.examples,
                    "facts": _facts(config),
                    "links": project_links(),
                    "models": list(translators),
                    "can_follow": "head" in servable.signatures,
                    # A stream chooses its model by languages.
                    "can_stream": self._models.translators().get(pair) is translators[name],
                }
            )


def openapi(root_path: str, model: str, servable: Servable | None) -> str:
    """The OpenAPI document as JSON, with examples for a model that is served or being loaded."""
    config = servable and servable.config or Config()
    text, *_ = [*(servable.examples if servable else []), "友達と映画を見ました。"]
    term = text.split()[0] if read_language(config.source).joiner else text[:2]
    values = {
        "version": __version__,
        "root_path": root_path.rstrip("/") or "/",
        "model": model,
        "model_version": servable.version if servable else 1,
        "source": config.source,
        "target": config.target,
        "text": text,
        "term": term,
    }
    document = json.dumps(_OPENAPI, ensure_ascii=False)
    for name, value in values.items():
        document = document.replace(f'"@{name}"', json.dumps(value, ensure_ascii=False))
    return document


def project_links() -> dict[str, str]:
    """Addresses of the project and its tutorials, by their names; none before it has one."""
    found = metadata("keras_attn")
    if "Home-page" not in found:
        return {}
    return {"keras_attn": found["Home-page"], "Tutorials": f"{found['Home-page']}#learn"}


def _facts(config: Config) -> dict[str, str]:
    """Facts about a translator for the readers of the page, by name."""
    encoder, decoder = config.num_encoder_layers, config.num_decoder_layers
    return {
        "Trained on": AND.join(Path(name).name for name in config.data.split(AND)),
        "Layers": f"{encoder} of the encoder, {decoder} of the decoder",
        "Width": f"{config.num_hiddens}, with {config.num_heads} heads",
        "Search": f"beam of {config.beam_size}" if config.beam_size > 1 else "greedy",
        "Precision": config.serving_precision,
    }


async def _show(page: str, request: Request) -> Response:
    return FileResponse(PAGE / page, headers=PAGE_HEADERS)


class _PageFiles(StaticFiles):
    def file_response(self, *args: Any, **options: Any) -> Response:
        response = super().file_response(*args, **options)
        response.headers.update(REVALIDATED)
        return response
