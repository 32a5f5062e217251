"""A proxy between a client and PostgreSQL that loses what it is told to lose."""

from __future__ import annotations

import socket
import threading
import time
from enum import Enum
from pathlib import Path
from typing import Final
from urllib.parse import quote

from psycopg.conninfo import conninfo_to_dict

_SOCKET: Final = ".s.PGSQL.5432"
_CHUNK: Final = 1 << 20  # a request of the tests arrives in one piece
LATE_SECONDS: Final = 0.2


class Lose(Enum):
    """What the next exchange loses, together with its connection."""

    NOTHING = "nothing"
    REQUEST = "the request never reaches the server"
    ANSWER = "the server carries out the request and its answer is lost"
    ANSWER_LATE = "the same, but the request reaches the server when the client has given up already"


class CuttingProxy:
    """Passes everything on, until ``lose`` says otherwise for one exchange."""

    def __init__(self, url: str, folder: Path) -> None:
        given = conninfo_to_dict(url)
        self._server = f"{given['host']}/{_SOCKET}"
        self.url = f"postgresql:///{given['dbname']}?user={given['user']}&host={quote(str(folder), safe='')}"
        self.lost = 0
        self._lose = Lose.NOTHING
        self._contains = b""
        self._lock = threading.Lock()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(folder / _SOCKET))
        self._listener.listen()
        self._open: list[socket.socket] = []
        self._closing = False
        self._arrived = threading.Event()
        self._arrived.set()
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    def lose(self, what: Lose, contains: bytes = b"") -> None:
        """Lose this in the next exchange whose request contains some bytes."""
        with self._lock:
            self._lose, self._contains = what, contains

    def settle(self) -> None:
        """Wait until a late request has arrived."""
        self._arrived.wait()

    def close(self) -> None:
        """Close every connection and wait for the threads."""
        self.settle()
        self._closing = True
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as last:  # wakes the thread that accepts
            last.connect(self._listener.getsockname())
        _cut(*self._open)
        for thread in self._threads:
            thread.join()
        for end in [self._listener, *self._open]:
            end.close()

    def _start(self, work: object, *values: object) -> None:
        thread = threading.Thread(target=work, args=values, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            client, _ = self._listener.accept()
            self._open.append(client)
            if self._closing:
                return
            server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            server.connect(self._server)
            self._open.append(server)
            self._start(self._requests, client, server)

    def _requests(self, client: socket.socket, server: socket.socket) -> None:
        answers = threading.Event()
        self._start(self._answers, client, server, answers)
        while data := _receive(client):
            what = self._take(data)
            if what is Lose.REQUEST:
                break
            if what is Lose.ANSWER:
                answers.set()
            if what is Lose.ANSWER_LATE:
                _cut(client)
                time.sleep(LATE_SECONDS)
            if not _send(server, data):
                break
            if what is Lose.ANSWER_LATE:
                time.sleep(LATE_SECONDS)
                self._arrived.set()
        _cut(client, server)

    def _answers(self, client: socket.socket, server: socket.socket, lost: threading.Event) -> None:
        while data := _receive(server):
            if lost.is_set() or not _send(client, data):
                break
        _cut(client, server)

    def _take(self, data: bytes) -> Lose:
        with self._lock:
            if self._lose is Lose.NOTHING or self._contains not in data:
                return Lose.NOTHING
            what, self._lose = self._lose, Lose.NOTHING
            self.lost += 1
            if what is Lose.ANSWER_LATE:
                self._arrived.clear()
            return what


def _receive(end: socket.socket) -> bytes:
    try:
        return end.recv(_CHUNK)
    except OSError:
        return b""


def _send(end: socket.socket, data: bytes) -> bool:
    try:
        end.sendall(data)
    except OSError:
        return False
    return True


def _cut(*ends: socket.socket) -> None:
    for end in ends:
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            continue
