"""The rendered book over HTTP, on this computer alone: opened from a folder, browsers load no WebAssembly."""

from __future__ import annotations

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from radeval_lib.errors import RadevalError
from radeval_lib.paths import display_path
from radeval_lib.pipeline import rendered

HOST = "127.0.0.1"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".wasm": "application/wasm",
    ".json": "application/json",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".zip": "application/zip",
}
"""What browsers insist on, whatever the tables of this system say."""


class ServeError(RadevalError):
    """No book to serve, or a port that another program has."""


class _Handler(SimpleHTTPRequestHandler):
    """Serves the book's files, to be asked for again at each visit."""

    extensions_map: dict[str, str] = {**SimpleHTTPRequestHandler.extensions_map, **_TYPES}  # noqa: RUF012

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-cache")  # a book that was rendered again is shown
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Leave requests unreported."""


def server(output_dir: Path, port: int) -> ThreadingHTTPServer:
    """Return a server of the rendered book of a profile's outputs; port 0 is any free one.

    Raises
    ------
    ServeError
        If there is no rendered book, or the port is taken.
    """
    if not rendered.index(output_dir).is_file():
        raise ServeError("no rendered book", display_path(output_dir), "Run `radbook build` first.")
    try:
        return ThreadingHTTPServer(
            (HOST, port), partial(_Handler, directory=str(rendered.folder(output_dir)))
        )
    except OSError as error:
        what = f"port {port} cannot be had: {(error.strerror or str(error)).lower()}"
        raise ServeError(what, "--port", "Give another port, or 0 for any free one.") from None
