"""``openai:NAME``: any server with OpenAI's embeddings API. Retries, batches and errors are handled here."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator, Sequence
from itertools import compress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..errors import GmeError, shorten
from ..types import Vectors
from .backoff import LONGEST_WAIT, Backoff, retry_after
from .bounded import LONGEST_ANSWER, event_hooks
from .options import EmbedOptions
from .parallel import drain_after, in_parallel
from .protocol import Embedder, TextError, normalized
from .response import Answer, MalformedError, read_answer

if TYPE_CHECKING:
    import openai

DEFAULT_URL = "https://api.openai.com/v1"
DEFAULT_BATCH_SIZE = 256
MAX_BATCH_SIZE = 2048
# The API takes 8,192 tokens a text and 300,000 a request. These limits are lower, because tokens are only estimated.
TOKENS_PER_TEXT = 8_000
TOKENS_PER_REQUEST = 250_000
# Retries while the server could never be reached. A wrong address then gives an error within seconds.
_FIRST_CONTACT_RETRIES = 3
_LONG_PAUSE = 5.0


class _RefusedError(Exception):
    """The server refuses this request. Asking again does not help, but a part of the request may pass."""


class OpenAIEmbedder(Embedder):
    """Embeds through ``POST {base_url}/embeddings``.

    Args:
        options: the model name after ``openai:``, server, dimensions, batch size, concurrency, time-out, retries, and
            the environment variable with the key.

    Attributes:
        backoff: the pauses between tries.
        reporter: hears when a pause is long.
    """

    def __init__(self, options: EmbedOptions) -> None:
        if not options.rest:
            raise GmeError("--model openai: names no model", "write, say, --model openai:text-embedding-3-small")
        if options.batch_size is not None and options.batch_size > MAX_BATCH_SIZE:
            raise GmeError(f"--batch-size is {options.batch_size}, but the API takes at most {MAX_BATCH_SIZE}")
        self.name = options.model
        self.paid = True
        self.dim = options.dimensions
        self.base_url = _server(options.base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL)
        self.key = f"openai model={options.rest} url={self.base_url} dimensions={options.dimensions or 'default'}"
        self.backoff = Backoff()
        self._options = options
        self._secret = _api_key(options.api_key_env, self.base_url)
        self._client = _client(self.base_url, self._secret, options.timeout)
        weakref.finalize(self, self._client.close)
        self._encoding = "base64"
        self._lock = threading.Lock()
        self._reached = False
        self._fits = False
        self._tokens = 0
        self._served: str | None = None

    def facts(self) -> dict[str, Any]:
        """The server, its name for the model, the tokens it counted, and the number of retries."""
        return {
            "base_url": self.base_url,
            "served_model": self._served,
            "tokens": self._tokens,
            "retries": self.backoff.retries,
        }

    def stream(self, texts: Sequence[str]) -> Iterator[tuple[Sequence[int], Vectors]]:
        """Yield (positions, vectors) as answers arrive; see `Embedder.stream`.

        Raises:
            TextError: a text is empty (raised before anything is sent), or the server refuses it. All other texts of
                its batch are yielded first.
            GmeError: key, model, address or dimension is wrong, or the server fails again and again.
        """
        for position, text in enumerate(texts):
            if not text:
                raise TextError(
                    position, "the text is empty, which the API refuses", "give the node a text or remove it"
                )
        self.backoff.start()
        refused: TextError | None = None

        def batches() -> Iterator[list[int]]:
            for batch in _batches(texts, self._options.batch_size or DEFAULT_BATCH_SIZE):
                if refused is not None:
                    return
                yield batch

        parts: SimpleQueue[tuple[list[int], Vectors]] = SimpleQueue()

        def work(batch: list[int]) -> TextError | None:
            return self._embed(texts, batch, parts)

        def finished() -> Iterator[tuple[list[int], Vectors]]:
            while not parts.empty():
                yield parts.get()

        refusals = in_parallel(work, batches(), self._options.concurrency, on_stop=self.backoff.stop)
        try:
            for refusal in refusals:
                yield from finished()
                refused = refused or refusal
        except GeneratorExit:
            raise
        except BaseException as error:
            for _ in drain_after(refusals, error):
                yield from finished()
            # A batch may have been split and failed in a later part. The vectors of its earlier parts are already paid.
            yield from finished()
            raise
        finally:
            refusals.close()
        if refused is not None:
            raise refused

    def _embed(
        self, texts: Sequence[str], batch: list[int], parts: SimpleQueue[tuple[list[int], Vectors]], tries: int = 0
    ) -> TextError | None:
        """Embed one batch and put finished vectors into `parts`. Returns the error of the first text without a vector.

        A refused batch is halved until the refused text is alone. If some vectors are zero or NaN, only their texts are
        asked for again, because the others are already paid.
        """
        try:
            answer = self._request([texts[position] for position in batch])
        except _RefusedError as refusal:
            if len(batch) == 1:
                return TextError(batch[0], f"{self.base_url} refused the text: {refusal}", "shorten or change the text")
            middle = len(batch) // 2
            first, second = (self._embed(texts, half, parts) for half in (batch[:middle], batch[middle:]))
            return first or second
        vectors, bad = normalized(answer.vectors)
        if bad is None:
            parts.put((batch, vectors))
            return None
        directed = [normalized(answer.vectors[row : row + 1])[1] is None for row in range(len(batch))]
        if any(directed):
            parts.put((list(compress(batch, directed)), normalized(answer.vectors[directed])[0]))
        left = [position for position, fine in zip(batch, directed, strict=True) if not fine]
        if tries == self._options.retries:
            return TextError(left[0], f"{self.base_url} sent a vector that is zero or NaN ({tries + 1} tries)")
        self._pause(tries, None, "sent a vector that is zero or NaN")
        return self._embed(texts, left, parts, tries + 1)

    def _note(self, answer: Answer) -> None:
        """Count the answer, and check that its dimension is the requested one, or that of the first answer.

        If the server has sent the right dimension before, it is asked again. Otherwise the error is final.
        """
        found = answer.vectors.shape[1]
        with self._lock:
            self._tokens += answer.tokens
            self._served = self._clean(answer.model or "") or self._served
            self.dim = self.dim or found
            self._fits = self._fits or found == self.dim
            fits = self._fits
        if found == self.dim:
            return
        if self._options.dimensions is None:
            raise MalformedError(f"vectors of {found} dimensions after vectors of {self.dim}")
        if fits:
            raise MalformedError(f"vectors of {found} dimensions where {self.dim} were asked for")
        raise GmeError(
            f"{self.base_url} sent vectors of {found} dimensions, but --dimensions asks for {self.dim}",
            f"{self._options.rest} may not be able to: leave --dimensions out, or choose another model",
        )

    def _request(self, texts: list[str]) -> Answer:
        """Send one request, and try again until it succeeds or can't succeed."""
        import openai

        for attempt in range(self._options.retries + 1):
            self.backoff.wait_until_due()
            if self.backoff.stopped:
                raise GmeError("the work has been stopped")
            server_delay = None
            try:
                body = self._send(texts)
                self._reached = True
                answer = read_answer(body, len(texts))
                self._note(answer)
                return answer
            except MalformedError as error:
                problem = f"answered with {self._clean(str(error))}"
            except openai.APIStatusError as error:
                self._reached = True
                self._raise_if_final(error)
                problem = f"answered {error.status_code}: {self._error_reason(error)}"
                server_delay = retry_after(error.response.headers)
                if server_delay is not None and server_delay > LONGEST_WAIT:
                    raise GmeError(
                        f"{self.base_url} {problem}, and asks to wait {server_delay:,.0f} seconds",
                        "run the same command again then; what is done is kept",
                    ) from None
            except openai.APITimeoutError:
                problem = f"gave no answer within {self._options.timeout:g} seconds"
            except openai.APIConnectionError as error:
                problem = f"can't be reached or broke the connection: {self._clean(str(error.__cause__ or error))}"
                if not self._reached and attempt >= _FIRST_CONTACT_RETRIES:
                    break
            if attempt < self._options.retries:
                self._pause(attempt, server_delay, problem)
        raise GmeError(
            f"{self.base_url} {problem} ({attempt + 1} tries)", "run the same command again later; what is done is kept"
        )

    def _pause(self, attempt: int, server_delay: float | None, problem: str) -> None:
        if server_delay is not None and server_delay >= _LONG_PAUSE:
            self.reporter.note(f"{self.base_url} {problem}: waiting {server_delay:,.0f} seconds as it asks")
        self.backoff.pause(attempt, server_delay)

    def _send(self, texts: list[str]) -> bytes:
        import openai

        encoding = self._encoding
        extra = {} if self._options.dimensions is None else {"dimensions": self._options.dimensions}
        try:
            response = self._client.embeddings.with_raw_response.create(
                model=self._options.rest,
                input=texts,
                encoding_format=encoding,  # type: ignore[arg-type]
                **extra,  # type: ignore[arg-type]
            )
        except openai.BadRequestError as error:
            reason = self._error_reason(error)
            if encoding == "base64" and ("encoding_format" in reason or "base64" in reason):
                self._encoding = "float"
                return self._send(texts)
            raise
        return response.http_response.content

    def _raise_if_final(self, error: openai.APIStatusError) -> None:
        """Raise an error for answers that another try can't change. Return for all others."""
        status, reason, name = error.status_code, self._error_reason(error), self._options.rest
        if status in (401, 403):
            raise GmeError(
                f"{self.base_url} refused the key in ${self._options.api_key_env} ({status}): {reason}"
                if self._secret
                else f"{self.base_url} wants a key, and ${self._options.api_key_env} is not set ({status}): {reason}",
                f"export {self._options.api_key_env}=… with a key that may use {name}, or name another variable "
                "with --api-key-env",
            ) from None
        if status == 404:
            raise GmeError(
                f"{self.base_url} knows no model {name!r} or no embeddings API (404): {reason}",
                "check --model, and that --base-url is the address before /embeddings, often ending in /v1",
            ) from None
        if status == 429 and error.code == "insufficient_quota":
            raise GmeError(f"{self.base_url} says that the quota is used up: {reason}", "check your plan") from None
        if status in (400, 413, 422):
            if error.param in ("dimensions", "model") or (self._options.dimensions and "dimensions" in reason):
                raise GmeError(
                    f"{self.base_url} refused the request ({status}): {reason}", "check --dimensions and --model"
                ) from None
            raise _RefusedError(f"{status}: {reason}") from None
        if status < 500 and status not in (408, 409, 425, 429):
            raise GmeError(f"{self.base_url} refused the request ({status}): {reason}") from None

    def _error_reason(self, error: openai.APIStatusError) -> str:
        """The reason that the server gave, on one line."""
        body = error.body
        message = body.get("message") or body.get("detail") if isinstance(body, dict) else body
        return self._clean(str(message or error.message))

    def _clean(self, text: str) -> str:
        """A server's text without the key. Some servers repeat the key."""
        if self._secret:
            text = text.replace(self._secret, "***")
        text = " ".join(text.split())
        return text if len(text) <= 300 else f"{text[:299]}…"


def openai_model(options: EmbedOptions, threads: int) -> OpenAIEmbedder:
    """``openai:NAME``, for the registry. `threads` has no effect; `concurrency` is used instead."""
    return OpenAIEmbedder(options)


def _batches(texts: Sequence[str], size: int) -> Iterator[list[int]]:
    """Split the texts into requests, in order, by number and by estimated tokens.

    In any script a token rarely has fewer than two bytes, so half the bytes is a safe estimate. A text that may be too
    long for the API goes in a request of its own, so that a refusal affects no other text.
    """
    batch: list[int] = []
    tokens = 0
    for position, text in enumerate(texts):
        cost = (len(text.encode()) + 1) // 2
        needs_own_request = cost > TOKENS_PER_TEXT
        if batch and (needs_own_request or len(batch) == size or tokens + cost > TOKENS_PER_REQUEST):
            yield batch
            batch, tokens = [], 0
        batch.append(position)
        tokens += cost
        if needs_own_request:
            yield batch
            batch, tokens = [], 0
    if batch:
        yield batch


def _server(url: str) -> str:
    """The address without a final slash. Refuses invalid addresses, and addresses with a password."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise GmeError(f"--base-url {shorten(url)}: {error}", "write, say, http://localhost:8000/v1") from error
    if parts.username or parts.password or parts.query or parts.fragment:
        raise GmeError(
            f"--base-url for {parts.hostname} holds a user, password, query or fragment",
            "addresses are written to manifests: put the key in an environment variable and name it with --api-key-env",
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise GmeError(f"--base-url {shorten(url)} is not an http address", "write, say, http://localhost:8000/v1")
    return url.rstrip("/")


def is_local(url: str) -> bool:
    """Whether a server runs on this machine. False for an invalid address."""
    try:
        return urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")
    except ValueError:
        return False


def _api_key(variable: str, url: str) -> str:
    """The key, or "" for a server on this machine, which rarely needs one."""
    key = os.environ.get(variable, "").strip()
    if not key and not is_local(url):
        raise GmeError(
            f"no API key: the environment variable {variable} is not set",
            f"export {variable}=…, or name another variable with --api-key-env",
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise GmeError(f"the value of {variable} can't be an API key: it holds blanks or special characters")
    return key


def _client(url: str, key: str, timeout: float) -> openai.OpenAI:
    try:
        import openai
    except ImportError as error:
        raise GmeError("the package openai is not installed", "pip install openai") from error
    client = openai.DefaultHttpxClient(event_hooks=event_hooks(timeout, LONGEST_ANSWER), timeout=timeout)
    return openai.OpenAI(api_key=key or "none", base_url=url, timeout=timeout, max_retries=0, http_client=client)
