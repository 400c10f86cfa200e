"""The worker's end of the line protocol: one JSON object a line, file descriptors beside the lines."""

from __future__ import annotations

import json
import os
import socket
import traceback

_MAX_DESCRIPTORS = 16
_MAX_TRACEBACK = 20000


def describe_exception(error: BaseException, stage: str) -> dict:
    """An exception as the `error` of a reply. Never raises, whatever the exception's own methods do."""
    try:
        message = str(error)
    except BaseException:
        message = "(the exception cannot be printed)"
    try:
        # The frames of the worker itself say nothing to the author of a pass.
        trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))[-_MAX_TRACEBACK:]
    except BaseException:
        trace = ""
    return {"class": type(error).__name__, "message": message[:4000], "traceback": trace, "stage": stage}


class Channel:
    def __init__(self, descriptor: int):
        os.set_inheritable(descriptor, False)
        self._socket = socket.socket(fileno=descriptor)
        self._pending = b""
        self._descriptors: list[int] = []

    def receive(self) -> tuple[dict, list[int]] | None:
        """The next request and its descriptors, which are the caller's to close; None when the host is gone."""
        while b"\n" not in self._pending:
            data, descriptors, _, _ = socket.recv_fds(self._socket, 1 << 16, _MAX_DESCRIPTORS)
            self._descriptors += descriptors
            if not data:
                return None
            self._pending += data
        line, self._pending = self._pending.split(b"\n", 1)
        descriptors, self._descriptors = self._descriptors, []
        return json.loads(line), descriptors

    def send(self, message: dict) -> None:
        self._socket.sendall(json.dumps(message, allow_nan=False).encode() + b"\n")
