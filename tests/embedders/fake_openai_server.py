"""A local HTTP server that speaks OpenAI's embeddings API, misbehaves on demand and counts what it was paid for."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import struct
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import numpy.typing as npt

DIM = 8


def vector_of(text: str, dim: int = DIM) -> npt.NDArray[np.float32]:
    """The vector the server has for a text: not normalized, different for every text and dimension."""
    seed = int.from_bytes(hashlib.sha256(f"{dim} {text}".encode()).digest()[:8], "little")
    return np.random.default_rng(seed).normal(size=dim).astype(np.float32)


def unit_of(text: str, dim: int = DIM) -> npt.NDArray[np.float32]:
    """What an embedder must make of it."""
    vector = vector_of(text, dim).astype(np.float64)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


@dataclass
class Fault:
    """What to do to one request instead of answering it.

    `status` with `headers` and `message` answers an error; `delay` answers late; `truncate` sends the head of a good
    body with its full length announced and closes; `cut` sends half a body as if it were whole; `change` edits the
    answer before it is sent; `drop` closes the connection without a word, `reset` with a reset after half a body;
    `drip` sends a good body in a hundred pieces with so many seconds before each; `spoil` puts a value in place of one
    vector, and only that text is not paid.
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    message: str = "injected"
    code: str | None = None
    param: str | None = None
    delay: float = 0.0
    truncate: bool = False
    cut: bool = False
    drop: bool = False
    reset: bool = False
    drip: float = 0.0
    spoil: tuple[int, object] | None = None
    change: Callable[[dict[str, Any]], object] | None = field(default=None, repr=False)  # no address in a test's name


class FakeServer:
    """State of the server: tests set faults and read counters.

    Attributes:
        faults: taken one a request, in order of arrival, before any normal answer.
        weather: asked for a fault for each other request, given its body.
        refused: texts that answer 400 to any request holding them.
        keys: accepted keys; None accepts anything.
        paid: how often each text was embedded in an answer that was sent without a fault.
        requests: the bodies of all requests.
        drips: how many bodies were sent drop by drop to their end.
        dim: the dimension when none is asked for.
    """

    def __init__(self) -> None:
        self.faults: deque[Fault] = deque()
        self.weather: Callable[[dict[str, Any]], Fault] = lambda body: Fault()
        self.refused: set[str] = set()
        self.keys: set[str] | None = None
        self.paid: Counter[str] = Counter()
        self.requests: list[dict[str, Any]] = []
        self.arrivals: list[float] = []
        self.dim = DIM
        self.only_floats = False
        self.refuse_base64 = False
        self.shuffle = False
        self.pause = 0.0
        self.stall_after: int | None = None
        self.most_at_once = 0
        self.drips = 0
        self._now = 0
        self.lock = threading.Lock()
        self.url = ""

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        dim = body.get("dimensions") or self.dim
        as_text = body.get("encoding_format") == "base64" and not self.only_floats
        data = []
        for index, text in enumerate(body["input"]):
            vector = vector_of(text, dim)
            value = base64.b64encode(vector.astype("<f4").tobytes()).decode() if as_text else vector.tolist()
            data.append({"object": "embedding", "index": index, "embedding": value})
        if self.shuffle:
            data = data[::-1]
        tokens = sum(len(text.split()) for text in body["input"])
        return {
            "object": "list",
            "data": data,
            "model": body["model"],
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        with self.lock:
            self.requests.append(body)
            self.arrivals.append(time.monotonic())
            fault = self.faults.popleft() if self.faults else self.weather(body)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            stalled = self.stall_after is not None and len(self.requests) > self.stall_after
        try:
            time.sleep(self.pause)
            if stalled:
                time.sleep(600)
            self._respond(handler, body, fault)
        finally:
            with self.lock:
                self._now -= 1

    def _respond(self, handler: BaseHTTPRequestHandler, body: dict[str, Any], fault: Fault) -> None:
        key = handler.headers.get("Authorization", "").removeprefix("Bearer ")
        if fault.drop:
            handler.close_connection = True
            return
        if self.keys is not None and key not in self.keys:
            fault = Fault(status=401, message=f"Incorrect API key provided: {key}", code="invalid_api_key")
        elif self.refuse_base64 and body.get("encoding_format") == "base64":
            fault = Fault(status=400, message="encoding_format base64 is not supported")
        elif self.refused.intersection(body["input"]):
            fault = Fault(status=400, message="this input is refused by policy")
        if handler.path != "/v1/embeddings":
            fault = Fault(status=404, message="no such route")
        time.sleep(fault.delay)
        answer = self.answer(body)
        if fault.change is not None:
            fault.change(answer)
        if fault.status != 200:
            answer = {"error": {"message": fault.message, "type": "t", "code": fault.code, "param": fault.param}}
        paid = list(body["input"])
        if fault.spoil is not None:
            row = fault.spoil[0] % len(paid)
            answer["data"][row]["embedding"] = fault.spoil[1]
            del paid[answer["data"][row]["index"]]
        data = json.dumps(answer).encode()
        half = fault.truncate or fault.reset
        sent = data[: len(data) // 2] if half or fault.cut else data
        if not (fault.status != 200 or fault.delay or half or fault.cut or fault.drip or fault.change):
            with self.lock:
                self.paid.update(paid)
        handler.send_response(fault.status)
        for name, value in fault.headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(data) if half else len(sent)))
        handler.end_headers()
        pieces = 100 if fault.drip else 1
        for piece in range(pieces):
            time.sleep(fault.drip)
            handler.wfile.write(sent[piece * len(sent) // pieces : (piece + 1) * len(sent) // pieces])
        self.drips += bool(fault.drip)
        handler.close_connection = half
        if fault.reset:
            # Closing with nothing to linger for sends a reset instead of an end.
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@contextmanager
def running() -> Iterator[FakeServer]:
    """The server on a free port of this machine; `url` is its base URL."""
    state = FakeServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            state.handle(self)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, request: Any, client_address: Any) -> None:
            # A client that gave up waiting has closed the connection: that is the test, not a failure.
            if not isinstance(sys.exc_info()[1], OSError):
                super().handle_error(request, client_address)

    server = Server(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
