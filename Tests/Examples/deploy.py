#!/usr/bin/env python3
"""Asks a person before it deploys, and handles every outcome of the question.

Usage: deploy.py BUILD [OPTION OF alertq ask]...

Needs Python 3.11 and the command `alertq`. Exits with 0 if it deployed, 1 if it was decided not to,
75 if there is no decision yet.
"""

import json
import subprocess
import sys


class AlertQueueError(Exception):
    """The command could not ask; it has printed the reason to stderr."""


def ask(title, *options):
    """Asks, waits, and returns the alert as an object; its "outcome" is None if it still waits."""
    command = ["alertq", "ask", "--json", *options, "--", title]
    done = subprocess.run(command, stdout=subprocess.PIPE, encoding="utf-8")
    if not done.stdout:
        raise AlertQueueError(f"alertq ended with {done.returncode}")
    return json.loads(done.stdout)


def who(alert):
    responder = alert["responder"] or {}
    return responder.get("user") or f"uid {responder.get('uid')}"


def deploy(build):
    print(f"deploying build {build}")
    return 0


def main(build, *options):
    alert = ask(
        f"Deploy build {build}?", "--source=deploy", f"--key=deploy-{build}",
        "--button=yes=Deploy", "--cancel=no=Not now", f"--info=build={build}", *options)
    match alert:
        case {"outcome": "answered", "button": "yes"}:
            print(f"{who(alert)} said yes at {alert['resolved_at']}")
            return deploy(build)
        case {"outcome": "answered"}:
            print(f"not deployed: {who(alert)} chose “{alert['button']}”")
        case {"outcome": "expired", "button": "yes"}:
            # The caller gave --default yes: a rule decided, not a person.
            print("nobody answered in time; the default is to deploy")
            return deploy(build)
        case {"outcome": "expired"}:
            print("not deployed: nobody answered in time")
        case {"outcome": "withdrawn"}:
            print(f"not deployed: {who(alert)} took the question back")
        case {"outcome": "cancelled"}:
            print("not deployed: the system cancelled the question")
        case {"outcome": "dismissed"}:
            print("not deployed: the question left the screen")  # For alerts without buttons.
        case {"id": None}:
            print("nobody is there to ask, and the question is not kept")  # --if-unattended fail
            return 75
        case {"outcome": None}:
            print(f"no answer yet; run this again, or: alertq answer {alert['id']} yes")
            return 75
    return 1


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except AlertQueueError as error:
        sys.exit(f"deploy.py: {error}")
