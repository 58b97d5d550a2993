"""Writes down what an agent does to a program that it starts:

    tap.py LOG [COMMAND [ARGUMENT ...]]

Each line of LOG is an object: "in" is what was read from stdin, "end" that stdin has ended, "gone"
that nobody reads stdout any more, "signal" the name of a signal, and "exit" how the command ended;
"database" is the queue that its environment names, "at" the time, and "tap" tells processes apart.
The command gets the same stdin and signals, and the agent's stdout and stderr themselves. Without
a command, stdin is read to its end.
"""

import json
import os
import select
import signal
import subprocess
import sys
import time

log = open(sys.argv[1], "a")


def note(**event):
    log.write(json.dumps({"tap": os.getpid(), "at": time.time(), **event}) + "\n")
    log.flush()


command = sys.argv[2:] or ["sh", "-c", "cat >/dev/null"]
child = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)


def forward(number, _):
    note(signal=signal.Signals(number).name)
    child.send_signal(number)


for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, forward)
note(start=command, database=os.environ.get("ALERTQ_DATABASE"))
watched = select.poll()
watched.register(0, select.POLLIN)
# An error is reported, once, when the reader of a pipe has gone.
watched.register(1, 0)
while child.poll() is None:
    for descriptor, event in watched.poll(50):
        if descriptor == 1:
            note(gone="the reader of stdout")
            watched.unregister(1)
            continue
        data = os.read(0, 1 << 20)
        if data:
            note(**{"in": data.decode(errors="replace")})
            try:
                child.stdin.write(data)
                child.stdin.flush()
            except BrokenPipeError:
                pass
        else:
            note(end=True)
            watched.unregister(0)
            child.stdin.close()
note(exit=child.returncode)
sys.exit(child.returncode if child.returncode >= 0 else 128 - child.returncode)
