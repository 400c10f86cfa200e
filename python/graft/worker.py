"""A worker of the referee: `python -m graft.worker ROLE DEVICE THREADS SPIN_NS`, started by the host, never by hand.

Descriptor 3 is the channel (one JSON object a line), descriptor 4 the doorbell's page. The reference worker runs original graphs;
a candidate worker runs one rewritten graph with the replacement functions of its passes. Both are this file: a candidate differs
only in that the host believes nothing it says. Times are taken by the host.
"""

from __future__ import annotations

import os
import sys

_CHANNEL = 3
_DOORBELL = 4


def main(arguments: list[str]) -> int:
    if len(arguments) != 4:
        print("graft.worker is started by `graft bench run`", file=sys.stderr)
        return 2
    device, threads, spin_ns = arguments[1], int(arguments[2]), int(arguments[3])
    from graft._worker.channel import Channel, describe_exception

    channel = Channel(_CHANNEL)
    try:
        from graft._core import Doorbell
        from graft._worker import session

        doorbell = Doorbell(_DOORBELL)
        os.close(_DOORBELL)
        description = session.hello(device, threads)
    except BaseException as error:
        channel.send({"id": 0, "error": describe_exception(error, "start")})
        return 1
    channel.send({"id": 0, "result": description})
    session.Session(channel, device, spin_ns // 1000, doorbell).run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
