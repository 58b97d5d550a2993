"""Ask people questions, and get their answers, however long that takes.

    import alertq

    with alertq.connect() as queue:
        response = queue.ask(
            "Delete 40 GB of old snapshots?",
            buttons={"yes": "Delete"}, cancel={"no": "Keep"}, key="prune-2026-11")
        if response.button == "yes":
            prune()

The question is stored before anybody sees it, and so is the answer: when this program is killed
and started again, the same key finds it. What people did not choose is never a yes: see Response.

The queue is used through `alertq serve --stdio`, a child process, through the socket of
`alertq serve`, or over https. It needs Python 3.9 and, for a child process, the command `alertq`.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import http.client
import json
import os
import queue
import shutil
import socket
import ssl
import subprocess
import sys
import sysconfig
import threading
import time
import urllib.parse
import uuid
from dataclasses import dataclass
from typing import (
    Any, AsyncIterator, Callable, Generator, Generic, Iterator, Mapping, Optional, TypeVar, Union, cast,
)

__all__ = ["AsyncQueue", "Error", "Queue", "Response", "connect", "connect_async"]

Object = Mapping[str, Any]

# How long one request waits for an answer before it is made again, in seconds.
_WAIT = 50
# How long a service that is away is waited for, in seconds.
_PATIENCE = 120
# How many requests a connection carries at once; what comes then is sent over another one.
_WAITING_LIMIT = 200
# How long a request may be, in bytes, without its number and the end of its line.
_REQUEST_LIMIT = (1 << 20) - 32
# Exit codes of a child that would end the same way again: see sysexits.h.
_FINAL_CODES = {64, 65, 66, 69, 77, 127}


class Error(Exception):
    """A request that was refused: `problem` is the object of RFC 9457 that says why.

    `status` is an HTTP status, and `problem["exit_code"]` what the command would exit with.
    """

    def __init__(self, status: int, problem: Object) -> None:
        super().__init__(str(problem.get("detail") or f"status {status}"))
        self.status = status
        self.problem = problem

    @property
    def type(self) -> str:
        """What kind of problem it is, such as `key-conflict`; this never changes."""
        return str(self.problem.get("type", "")).rpartition(":")[2]


@dataclass(frozen=True)
class Response:
    """How a question ended. Ask it which button was chosen: it is neither true nor false."""

    alert: int
    #: `answered`, `expired`, `withdrawn`, `cancelled` or `dismissed`.
    outcome: str
    #: The id of the button; None if nobody chose one and none was applied at the deadline.
    button: Optional[str]
    #: Who chose: `person`, `program`, `policy` for a default button, `system` or `asker`.
    by: str
    #: The values of the question's fields, by their ids.
    values: Mapping[str, Any]
    note: Optional[str]
    #: The whole object, as `alertq show --json` prints it.
    record: Object

    def __bool__(self) -> bool:
        raise TypeError(
            "a response is neither true nor false: an expiry is one, too; compare its button, as in "
            'response.button == "yes"')

    @staticmethod
    def _of(record: Object) -> Optional[Response]:
        if not record["terminal"]:
            return None
        return Response(
            alert=record["id"], outcome=record["outcome"], button=record["button"],
            by=record["by"], values=record["values"], note=record["note"], record=record)


def connect(
    database: Optional[str] = None, *, program: Optional[str] = None, token: Optional[str] = None
) -> Queue:
    """Connects to a queue.

    `database` is a file, the URI of a server, `unix:PATH` for a service, or `https://HOST[/PATH]`
    for one on another machine, with its `token`; without it, the account's own queue is used, or
    what $ALERTQ_DATABASE names. `program` is the command, unless it is the one that was installed
    with this file, or that of the path.
    """
    return Queue(_carrier(database, program, token))


def connect_async(
    database: Optional[str] = None, *, program: Optional[str] = None, token: Optional[str] = None
) -> AsyncQueue:
    """The same for asyncio."""
    return AsyncQueue(_carrier(database, program, token))


def _carrier(
    database: Optional[str], program: Optional[str], token: Optional[str]
) -> _Carrier:
    if database is not None and database.startswith(("http:", "https:")):
        return _HTTP(database, token)
    if token is not None:
        raise ValueError("a token is for https://HOST")
    return _Lines(database, program)


class Queue:
    """A queue of questions. Threads may share it."""

    def __init__(self, carrier: _Carrier) -> None:
        self._carrier = carrier

    def __enter__(self) -> Queue:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._carrier.close()

    def ask(self, title: str, **question: Any) -> Response:
        """Asks, waits for the end of the question, and marks the response as collected.

        It takes what `submit` takes; with `collect=False` the program calls `collect` itself. The
        same key gives the same response again. Ctrl-C leaves the question standing, and says its
        key.
        """
        steps = _ask(title, question)
        key = str(question["key"])
        try:
            return self._run(steps)
        except KeyboardInterrupt:
            print(_standing(key), file=sys.stderr)
            raise

    def submit(self, title: str, **question: Any) -> int:
        """Asks without waiting, and returns the number of the alert.

        `buttons`, `destructive` and `cancel` map ids to labels: `cancel` has the button that
        means no; without any button it is a notice. `message`, `priority`, `key`, `source`,
        `fields`, `default`, `info` and `replace` are as in the API; `timeout`, `valid`, `snooze`
        and `dismiss_after` are in seconds. The same key joins the same question.
        """
        return self._run(_submit(title, question))

    def wait(self, alert: int, timeout: Optional[float] = None) -> Optional[Response]:
        """Waits for the end of an alert; None if that takes longer than `timeout` seconds."""
        return self._run(_wait(alert, timeout), timeout)

    def answer(
        self, alert: int, button: str, *, values: Optional[Object] = None,
        note: Optional[str] = None, seen: Optional[str] = None,
    ) -> Response:
        """Answers an alert, as a program does; `seen` is the digest of what was shown."""
        return self._run(_answer(alert, button, values, note, seen))

    def collect(self, alert: int) -> Response:
        """Marks a response as taken by its asker; repeating it changes nothing."""
        return self._run(_change(alert, "collect", {}))

    def withdraw(self, alert: int, because: Optional[str] = None) -> Response:
        """Takes back a question that needs no answer any more."""
        return self._run(_change(alert, "withdraw", {"because": because}))

    def show(self, alert: int) -> Object:
        """An alert, with everything that has happened to it."""
        return self._run(_get(f"/v1/alerts/{alert}"))

    def waiting(self, source: Optional[str] = None) -> Iterator[Object]:
        """The alerts that wait, in the order in which they will be shown."""
        return self._pages({"state": "waiting", "source": source})

    def history(
        self, *, source: Optional[str] = None, text: Optional[str] = None,
        outcome: Optional[str] = None, since: Optional[str] = None, until: Optional[str] = None,
        uncollected: bool = False,
    ) -> Iterator[Object]:
        """Alerts with a response, newest first; times are as 2026-11-20T10:00:00Z."""
        return self._pages({
            "state": "resolved", "source": source, "text": text, "outcome": outcome,
            "since": since, "until": until, "uncollected": "true" if uncollected else None})

    def events(self, after: str = "0", *, follow: bool = True) -> Iterator[Object]:
        """The entries of the log after one, whose `cursor` it is; without end if it follows."""
        while True:
            entries, after = self._run(_events(after, follow))
            yield from entries
            if not follow and not entries:
                return

    def _pages(self, filters: Object) -> Iterator[Object]:
        after = None
        while True:
            alerts, after = self._run(_page(filters, after))
            yield from alerts
            if after is None:
                return

    def _run(self, steps: _Steps[_Result], timeout: Optional[float] = None) -> _Result:
        run = _Run(steps, timeout)
        while not run.is_done:
            try:
                run.proceed(self._carrier.send(run.request).result(run.time_left))
            except concurrent.futures.TimeoutError:
                run.give_up()
            except ConnectionError as error:
                time.sleep(run.pause_after(error))
        return run.result


class AsyncQueue:
    """A queue of questions, for asyncio: the main calls of Queue."""

    def __init__(self, carrier: _Carrier) -> None:
        self._carrier = carrier

    async def __aenter__(self) -> AsyncQueue:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        self._carrier.close()

    async def ask(self, title: str, **question: Any) -> Response:
        """See Queue.ask. A cancelled task leaves the question standing: ask again with its key."""
        return await self._run(_ask(title, question))

    async def submit(self, title: str, **question: Any) -> int:
        return await self._run(_submit(title, question))

    async def wait(self, alert: int, timeout: Optional[float] = None) -> Optional[Response]:
        return await self._run(_wait(alert, timeout), timeout)

    async def answer(
        self, alert: int, button: str, *, values: Optional[Object] = None,
        note: Optional[str] = None, seen: Optional[str] = None,
    ) -> Response:
        return await self._run(_answer(alert, button, values, note, seen))

    async def collect(self, alert: int) -> Response:
        return await self._run(_change(alert, "collect", {}))

    async def withdraw(self, alert: int, because: Optional[str] = None) -> Response:
        return await self._run(_change(alert, "withdraw", {"because": because}))

    async def events(self, after: str = "0") -> AsyncIterator[Object]:
        while True:
            entries, after = await self._run(_events(after, True))
            for event in entries:
                yield event

    async def _run(self, steps: _Steps[_Result], timeout: Optional[float] = None) -> _Result:
        run = _Run(steps, timeout)
        while not run.is_done:
            try:
                reply = asyncio.wrap_future(self._carrier.send(run.request))
                run.proceed(await asyncio.wait_for(reply, run.time_left))
            except asyncio.TimeoutError:
                run.give_up()
            except ConnectionError as error:
                await asyncio.sleep(run.pause_after(error))
        return run.result


# What is asked for, step by step: a generator yields requests, gets the body of each reply, and
# returns the result. So both kinds of queue share it.

_Result = TypeVar("_Result")
_Request = tuple[str, str, Optional[Object]]
_Reply = tuple[int, Any]
_Steps = Generator[_Request, Any, _Result]
_Peer = tuple[socket.socket, Optional[subprocess.Popen[bytes]]]
_PAGE = 100


def _target(path: str, parameters: Object) -> str:
    given = {name: value for name, value in parameters.items() if value is not None}
    # In the path of a URI, a plus is no space.
    query = urllib.parse.urlencode(given, quote_via=urllib.parse.quote)
    return path + ("?" + query if query else "")


def _events(after: str, follow: bool) -> _Steps[tuple[list[Object], str]]:
    wait = f"{_WAIT}s" if follow else None
    page = yield "GET", _target("/v1/audit", {"after": after, "wait": wait}), None
    return page["entries"], page["cursor"]


def _page(filters: Object, after: Optional[int]) -> _Steps[tuple[list[Object], Optional[int]]]:
    target = _target("/v1/alerts", {**filters, "after": after, "limit": _PAGE})
    page = yield "GET", target, None
    return page["alerts"], page["next"]


def _get(target: str) -> _Steps[Any]:
    return (yield "GET", target, None)


def _alert(title: str, question: dict[str, Any]) -> dict[str, Any]:
    """The body of a question. Without a key it gets one, so that it can be asked again."""
    if question.get("key") is None:
        question["key"] = f"python-{uuid.uuid4()}"
    body = {name: value for name, value in question.items() if value is not None}
    body["title"] = title
    body["buttons"] = [
        {"id": id, "title": label, "role": None if name == "buttons" else name}
        for name in ("buttons", "destructive", "cancel")
        for id, label in _labels(name, body.pop(name, {})).items()
    ]
    for name in ("timeout", "valid", "snooze", "dismiss_after"):
        if name in body:
            body[name + "_ms"] = round(body.pop(name) * 1000)
    return body


def _labels(name: str, labels: Any) -> Mapping[str, str]:
    if not isinstance(labels, Mapping):
        raise TypeError(f'{name} maps ids to labels, as in {{"yes": "Yes"}}')
    return labels


def _submit(title: str, question: dict[str, Any]) -> _Steps[int]:
    record = yield "POST", "/v1/alerts", _alert(title, question)
    return int(record["id"])


def _ask(title: str, question: dict[str, Any]) -> _Steps[Response]:
    collects = question.pop("collect", True)
    body = _alert(title, question)

    def steps() -> _Steps[Response]:
        record = yield "POST", f"/v1/alerts?wait={_WAIT}s", body
        while (response := Response._of(record)) is None:
            record = yield "GET", f"/v1/alerts/{record['id']}?wait={_WAIT}s", None
        # A named handler that has yet to run collects it; an answer that is stale is refused then.
        is_own = record["collected_at"] is None and record["handler"] is None
        if record["stale"] or (collects and is_own):
            yield "POST", f"/v1/alerts/{response.alert}/collect", None
        return response

    return steps()


def _wait(alert: int, timeout: Optional[float]) -> _Steps[Optional[Response]]:
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        left = _WAIT if end is None else min(_WAIT, max(0, end - time.monotonic()))
        record = yield "GET", f"/v1/alerts/{alert}?wait={max(1, round(left * 1000))}ms", None
        response = Response._of(record)
        if response is not None or (end is not None and time.monotonic() >= end):
            return response


def _answer(
    alert: int, button: str, values: Optional[Object], note: Optional[str], seen: Optional[str]
) -> _Steps[Response]:
    body = {"button": button, "values": values, "note": note, "seen": seen}
    return _change(alert, "response", body)


def _change(alert: int, action: str, body: Object) -> _Steps[Response]:
    given = {name: value for name, value in body.items() if value is not None}
    record = yield "POST", f"/v1/alerts/{alert}/{action}", given
    response = Response._of(record)
    if response is None:
        raise _foreign("that the alert waits")
    return response


class _Run(Generic[_Result]):
    """Goes through the steps. A request whose reply was lost is made again: none of them takes
    effect twice, since a question has a key, and an answer that was stored is found."""

    def __init__(self, steps: _Steps[_Result], timeout: Optional[float]) -> None:
        self._steps = steps
        self._end = None if timeout is None else time.monotonic() + timeout
        self._result: list[_Result] = []
        self._away_since: Optional[float] = None
        self.request = next(steps)

    @property
    def is_done(self) -> bool:
        return bool(self._result)

    @property
    def result(self) -> _Result:
        return self._result[0]

    def proceed(self, reply: _Reply) -> None:
        status, body = reply
        if status == 503:
            raise ConnectionError(body.get("detail"))
        self._away_since = None
        if status >= 400:
            raise Error(status, body)
        try:
            self.request = self._steps.send(body)
        except StopIteration as end:
            self._result.append(end.value)
        except (KeyError, TypeError, ValueError) as error:
            raise _foreign(f"“{str(body)[:80]}”") from error

    @property
    def time_left(self) -> Optional[float]:
        """How long a reply may take, in seconds; a service that is there has it a moment earlier."""
        return None if self._end is None else max(0, self._end - time.monotonic()) + 2

    def give_up(self) -> None:
        """Ends a wait whose time is up without a result."""
        self._result.append(cast(Any, None))

    def pause_after(self, error: ConnectionError) -> float:
        """How long to pause, in seconds, before the request is made again."""
        now = time.monotonic()
        if self._end is not None and now > self._end:
            self.give_up()
            return 0
        if self._away_since is None:
            self._away_since = now
        if now - self._away_since > _PATIENCE:
            raise error
        return 0.2 if now - self._away_since < 2 else 2


class _Lines:
    """Makes requests through a child process or a socket, each as a line of JSON."""

    def __init__(self, database: Optional[str], program: Optional[str]) -> None:
        self._database = database
        self._program = program or _installed_program()
        self._is_closed = False
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._connections: list[_Connection] = []

    def send(self, request: _Request) -> concurrent.futures.Future[_Reply]:
        """Makes a request; what it returns fails with ConnectionError if the reply is lost."""
        if self._process != os.getpid():
            self._begin()  # The connections are still those of the process that was forked.
        method, path, body = request
        line = {"method": method, "path": path, **({} if body is None else {"body": body})}
        data = _bounded(line)
        with self._lock:
            if self._is_closed:
                raise _closed()
            self._connections = [one for one in self._connections if not one.is_over]
            for connection in self._connections:
                reply = connection.send(data)
                if reply is not None:
                    return reply
            connection = _Connection(self._open)
            reply = connection.send(data)
            assert reply is not None
            connection.start()
            self._connections.append(connection)
            return reply

    def close(self) -> None:
        if self._process != os.getpid():
            self._begin()
        with self._lock:
            self._is_closed = True
            connections = self._connections
        for connection in connections:
            connection.close()

    def _open(self) -> _Peer:
        if self._database is not None and self._database.startswith("unix:"):
            return _connected(self._database[5:].split(",")), None
        words = [self._program, "serve", "--stdio"]
        if self._database is not None:
            words += ["--database", self._database]
        own, others = socket.socketpair()
        with others:
            try:
                # Ctrl-C at a terminal is for this program, not for the child.
                return own, subprocess.Popen(
                    words, stdin=others.fileno(), stdout=others.fileno(), start_new_session=True)
            except BaseException:
                own.close()
                raise


class _Connection:
    """A thread writes requests, and another one reads the replies, which come in any order."""

    def __init__(self, open: Callable[[], _Peer]) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[int, concurrent.futures.Future[_Reply]] = {}
        self._last = 0
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._socket: Optional[socket.socket] = None
        self.is_over = False
        self._writer = threading.Thread(target=self._write, args=(open,), daemon=True)

    def start(self) -> None:
        self._writer.start()

    def send(self, request: bytes) -> Optional[concurrent.futures.Future[_Reply]]:
        """Sends an object, to which it adds an id; returns None if it is over, or carries enough."""
        reply: concurrent.futures.Future[_Reply] = concurrent.futures.Future()
        # Whoever waits for it may give up; it is delivered all the same.
        reply.set_running_or_notify_cancel()
        with self._lock:
            if self.is_over or len(self._waiting) >= _WAITING_LIMIT:
                return None
            self._last += 1
            self._waiting[self._last] = reply
            self._lines.put(b'{"id":%d,%b\n' % (self._last, request[1:]))
        return reply

    def close(self) -> None:
        self._lose(_closed())
        self._writer.join(timeout=15)

    def _write(self, open: Callable[[], _Peer]) -> None:
        try:
            service, child = open()
        except Exception as error:
            return self._lose(error)
        reader = threading.Thread(target=self._read, args=(service, child), daemon=True)
        try:
            reader.start()
            with self._lock:
                self._socket = service
            while (line := self._lines.get()) and not self.is_over:
                service.sendall(line, socket.MSG_NOSIGNAL)
        except OSError as error:
            self._lose(ConnectionError(str(error)))
        except Exception as error:
            self._lose(error)
        _hang_up(service)
        if reader.ident is not None:
            reader.join()
        service.close()
        if child is not None:
            _end(child)

    def _read(
        self, service: socket.socket, child: Optional[subprocess.Popen[bytes]]
    ) -> None:
        error: Exception = ConnectionError("the service has ended the connection")
        try:
            with service.makefile("rb") as lines:
                for line in lines:
                    number, reply = _parsed(line)
                    with self._lock:
                        waiting = self._waiting.pop(number)
                    waiting.set_result(reply)
        except OSError as loss:
            error = ConnectionError(str(loss))
        except KeyError as number:
            error = _foreign(f"a reply to request {number}, which was not made")
        except Exception as other:
            error = other
        if child is not None and isinstance(error, ConnectionError):
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = child.wait(timeout=1)
                if code in _FINAL_CODES:
                    detail = f"alertq serve --stdio has exited with {code}"
                    error = Error(500, {"detail": detail, "exit_code": code})
        self._lose(error)

    def _lose(self, error: Exception) -> None:
        with self._lock:
            self.is_over = True
            waiting, self._waiting = self._waiting, {}
            service = self._socket
        self._lines.put(b"")
        if service is not None:
            _hang_up(service)
        for reply in waiting.values():
            reply.set_exception(error)


def _hang_up(service: socket.socket) -> None:
    with contextlib.suppress(OSError):
        service.shutdown(socket.SHUT_RDWR)


def _end(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.wait(timeout=10)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _parsed(line: bytes) -> tuple[int, _Reply]:
    """The number of a request and the reply to it."""
    if not line.endswith(b"\n"):
        raise ConnectionError("the service has ended in the middle of a line")
    try:
        reply = json.loads(line)
        number, status, body = reply["id"], reply["status"], reply["body"]
    except (ValueError, KeyError, TypeError, RecursionError):
        number, status, body = None, None, None
    if not (isinstance(number, int) and isinstance(status, int) and isinstance(body, dict)):
        text = line[:80].decode("ascii", "backslashreplace").rstrip()
        raise _foreign(f"“{text}”; a service of lines is at alertq.sock")
    if number == 0:  # It could not be told which request that was.
        raise Error(status, body)
    return number, (status, body)


def _foreign(what: str) -> Error:
    """The error for what is no reply of alertq's."""
    return Error(502, {"detail": f"what replies is none of alertq's: it says {what}"})


class _HTTP:
    """Makes each request over a connection, and in a thread, of its own."""

    def __init__(self, url: str, token: Optional[str]) -> None:
        parts = urllib.parse.urlsplit(url)
        host, is_secure = parts.hostname or "", parts.scheme == "https"
        is_plain = host and _is_visible(host + parts.path)
        if not is_plain or parts.query or parts.fragment or parts.username is not None:
            raise ValueError(f"{url!r} is not https://HOST[:PORT][/PATH]")
        if not is_secure and host not in ("localhost", "127.0.0.1", "::1"):
            raise ValueError("over http, the token could be read by others: use https")
        self._host, self._port = host, parts.port or (443 if is_secure else 80)
        self._path = parts.path.rstrip("/")
        self._context = ssl.create_default_context() if is_secure else None
        self._fields = {"Content-Type": "application/json"}
        if token is not None:
            if not _is_visible(token.strip()):
                raise ValueError("the token has other characters than visible ASCII, or none")
            self._fields["Authorization"] = f"Bearer {token.strip()}"
        self._is_closed = False
        self._waiting: set[concurrent.futures.Future[_Reply]] = set()
        self._lock = threading.Lock()

    def send(self, request: _Request) -> concurrent.futures.Future[_Reply]:
        """Makes a request; what it returns fails with ConnectionError if the reply is lost."""
        method, path, body = request
        data = None if body is None else _bounded(body)
        reply: concurrent.futures.Future[_Reply] = concurrent.futures.Future()
        reply.set_running_or_notify_cancel()
        with self._lock:
            if self._is_closed:
                raise _closed()
            self._waiting.add(reply)
        threading.Thread(
            target=self._exchange, args=(method, path, data, reply), daemon=True).start()
        return reply

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            waiting, self._waiting = self._waiting, set()
        for reply in waiting:
            reply.set_exception(_closed())

    def _exchange(
        self, method: str, path: str, data: Optional[bytes],
        reply: concurrent.futures.Future[_Reply],
    ) -> None:
        found: Optional[_Reply] = None
        error: BaseException
        try:
            found = self._reply(method, path, data)
        except ssl.SSLCertVerificationError as refusal:
            error = refusal
        except (OSError, http.client.HTTPException) as loss:
            error = ConnectionError(str(loss))
        except BaseException as other:
            error = other
        with self._lock:
            if reply not in self._waiting:
                return  # It was closed meanwhile.
            self._waiting.remove(reply)
        if found is not None:
            reply.set_result(found)
        else:
            reply.set_exception(error)

    def _reply(self, method: str, path: str, data: Optional[bytes]) -> _Reply:
        limit = _WAIT + 15
        connection = (
            http.client.HTTPSConnection(
                self._host, self._port, timeout=limit, context=self._context)
            if self._context is not None
            else http.client.HTTPConnection(self._host, self._port, timeout=limit))
        with contextlib.closing(connection):
            connection.request(method, self._path + path, data, self._fields)
            response = connection.getresponse()
            status, text = response.status, response.read()
        body = None
        with contextlib.suppress(ValueError, RecursionError):
            body = json.loads(text)
        if isinstance(body, dict) and not (300 <= status < 400 or status in (502, 504)):
            return status, body
        # It is a proxy's: what is 500 and above, for a service that is away.
        reason = f"{self._host} replied {status} {response.reason}"
        if status >= 500:
            raise ConnectionError(reason)
        raise Error(status, {"detail": reason})


_Carrier = Union[_Lines, _HTTP]


def _bounded(object: Object) -> bytes:
    """The JSON of a request, in one line."""
    data = json.dumps(object, allow_nan=False).encode()
    if len(data) > _REQUEST_LIMIT:
        raise ValueError(f"the request has {len(data)} bytes; at most {_REQUEST_LIMIT}")
    return data


def _closed() -> Error:
    return Error(503, {"detail": "the queue was closed"})


def _is_visible(text: str) -> bool:
    """Whether it has visible characters of ASCII, and nothing else."""
    return bool(text) and all("!" <= character <= "~" for character in text)


def _installed_program() -> str:
    """The command that a wheel has put beside the Python that runs; else that of the path."""
    return shutil.which("alertq", path=sysconfig.get_path("scripts")) or "alertq"


def _connected(paths: list[str]) -> socket.socket:
    """A connection to the first service that is there."""
    for path in paths:
        service = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            service.settimeout(10)
            service.connect(path)
            service.settimeout(None)
            return service
        except (FileNotFoundError, ConnectionError, TimeoutError, socket.timeout) as error:
            service.close()
            reason = f"{path}: {error.strerror or error}"
        except BaseException:
            service.close()
            raise
    raise ConnectionError(reason)


def _standing(key: str) -> str:
    return f"alertq: the question is not taken back; ask it again with the key {key!r}"
