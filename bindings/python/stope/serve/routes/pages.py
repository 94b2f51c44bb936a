"""The pages for people: the one at ``/``, and the API's at ``/docs``. All their files come from this machine.

Only files that were there when the server started are served, each under its own name, so no path leads elsewhere.
"""

import importlib.util
import mimetypes
import pathlib

from fastapi import APIRouter
from starlette.responses import FileResponse

from ..problems import Problem

__all__ = ["router"]

router = APIRouter(include_in_schema=False)

_SERVE = pathlib.Path(__file__).parent.parent
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


def _files_in(folder):
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}


def _swagger_ui():
    """The files of Swagger UI. fastapi-offline brings version 5, which knows OpenAPI 3.1; we use nothing else of it."""
    package = importlib.util.find_spec("fastapi_offline")
    if package is None:
        return {}
    folder = pathlib.Path(package.origin).parent / "static"
    return {name: folder / name for name in ("swagger-ui.css", "swagger-ui-bundle.js") if (folder / name).is_file()}


_PAGE = _files_in(_SERVE / "page")
_API_PAGE = {**_swagger_ui(), **_files_in(_SERVE / "api_page")}


def _answer(files, name):
    path = files.get(name)
    if path is None:
        raise Problem(404, "not-found", "There is no such file.")
    media_type = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return FileResponse(path, media_type=media_type, headers={"Cache-Control": "no-cache"})


@router.get("/")
async def page():
    return _answer(_PAGE, "index.html")


@router.get("/static/{name:path}")
async def page_file(name: str):
    return _answer(_PAGE, name)


@router.get("/docs")
async def api_page():
    if "swagger-ui-bundle.js" not in _API_PAGE:
        raise Problem(404, "no-page", "This page needs fastapi-offline: pip install 'stope[serve]'. GET /openapi.json has the description.")
    return _answer(_API_PAGE, "index.html")


@router.get("/docs/{name}")
async def api_page_file(name: str):
    return _answer(_API_PAGE, name)
