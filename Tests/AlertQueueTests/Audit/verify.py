"""Verifies the audit log of an alertq database, from its documentation alone.

Usage: verify.py DATABASE. Prints the number of entries and the last hash, or says what is wrong.
"""

import hashlib
import json
import sqlite3
import sys

ENTRY = """
    seq at_ms event alert_id source outcome button_index button_role resolved_by uid user
    login_uid session via tty ssh host pid content detail previous
""".split()


def netstring(value):
    """A text, a number or bytes as `length:bytes,`; what is absent as `-,`."""
    if value is None:
        return b"-,"
    if isinstance(value, bytes):
        value = value.hex()
    data = str(value).encode()
    return b"%d:%s," % (len(data), data)


def sha256(fields):
    return hashlib.sha256(b"".join(map(netstring, fields))).digest()


def content_hash(alert):
    """The salted hash of everything that was asked."""
    buttons = json.loads(alert["buttons"])
    info = json.loads(alert["info"])
    fields = ["alertq-content-1", alert["salt"], alert["style"], alert["title"], alert["message"]]
    presenters = json.loads(alert["presenters"] or "[]")
    fields += [alert["default_button"], alert["priority"], alert["key"], alert["handler"]]
    fields += [len(presenters)] + presenters + [len(buttons)]
    for button in buttons:
        fields += [button["id"], button["title"], button.get("role")]
    fields += [len(info)]
    for name in sorted(info, key=str.encode):
        fields += [name, info[name]]
    return sha256(fields)


def verify(db):
    db.row_factory = sqlite3.Row
    previous, count = bytes(32), 0
    for entry in db.execute("SELECT * FROM audit ORDER BY seq"):
        count += 1
        where = "entry %d" % entry["seq"]
        if entry["seq"] != count:
            return "%s: entry %d is missing" % (where, count)
        if entry["previous"] != previous:
            return where + ": it does not continue the one before"
        if entry["hash"] != sha256(["alertq-audit-1"] + [entry[name] for name in ENTRY]):
            return where + ": it was changed"
        previous = entry["hash"]
        alert = db.execute("SELECT * FROM alerts WHERE id = ?", (entry["alert_id"],)).fetchone()
        if entry["content"] is not None and alert["salt"] is not None:
            if entry["content"] != content_hash(alert):
                return where + ": the alert was changed"
    print(count, previous.hex())


if __name__ == "__main__":
    sys.exit(verify(sqlite3.connect(sys.argv[1])))
