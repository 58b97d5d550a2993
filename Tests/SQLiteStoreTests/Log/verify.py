"""Verifies the audit log of an alertq database, from its documentation alone.

Usage: verify.py DATABASE. Prints the number of entries and the last hash, or says what is wrong.
"""

import hashlib
import json
import re
import sqlite3
import sys
from datetime import datetime, timedelta, timezone

ENTRY = """
    seq at_ms event alert_id source outcome button_index button_role resolved_by account_host
    uid user login_uid session via tty ssh host boot pid content detail previous
""".split()


def netstring(value):
    """A text, a number or bytes as `length:bytes,`; absent values as `-,`."""
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
    fields += [alert["fields"], len(info)]
    for name in sorted(info, key=str.encode):
        fields += [name, info[name]]
    return sha256(fields)


def time(milliseconds):
    moment = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=milliseconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (milliseconds % 1000)


def erased_buttons(alert):
    """The id and role of each button, and the default button, as an erasure leaves them."""
    buttons, default = json.loads(alert["buttons"]), alert["default_button"]
    if alert["salt"] is not None:
        for button in buttons:
            if re.fullmatch(re.escape(button["title"]) + "(#[0-9]+)?", button["id"]):
                del button["id"]
        if default not in [button.get("id") for button in buttons]:
            default = None
    return [(button.get("id"), button.get("role")) for button in buttons], default


def leaves_hash(alert):
    """The hash of what an erasure leaves of an alert."""
    buttons, default = erased_buttons(alert)
    presenters = json.loads(alert["presenters"] or "[]")
    fields = ["alertq-leaves-1", alert["style"], default, alert["priority"], alert["key"]]
    fields += [alert["handler"], len(presenters)] + presenters + [len(buttons)]
    return sha256(fields + [value for button in buttons for value in button])


def key_hash(alert, salt):
    """The salted hash of what is compared when an alert's key is used again."""
    buttons, info = json.loads(alert["buttons"]), json.loads(alert["info"])
    fields = ["alertq-key-1", salt, alert["source"], alert["key"], alert["style"], alert["title"]]
    fields += [alert["message"], alert["default_button"], len(buttons)]
    for button in buttons:
        fields += [button["id"], button["title"], button.get("role")]
    fields += [alert["fields"], len(info)]
    for name in sorted(info, key=str.encode):
        fields += [name, info[name]]
    return sha256(fields)


def key_part(alert, told):
    """The key in the detail of an ask's entry, with the salt given there."""
    match = re.search(r"; key ([0-9a-f]{32}) ([0-9a-f]{64}); ", told)
    if not match:
        return "no key"
    digest = match[2] if alert["salt"] is None else key_hash(alert, match[1]).hex()
    return "key %s %s" % (match[1], digest)


def asked_detail(alert, told):
    """The expected detail of an ask's entry: the deadline, the timers, the clocks and the rest."""
    parts = []
    if alert["expires_ms"] is not None:
        boot = alert["expires_boot_ms"]
        clock = "wall clock" if boot is None else "boot clock %d ms" % boot
        parts.append("expires %s, %s" % (time(alert["expires_ms"]), clock))
    if alert["dismiss_after_ms"] is not None:
        parts.append("dismiss after %d ms" % alert["dismiss_after_ms"])
    if alert["snooze_ms"] is not None:
        parts.append("snooze %d ms" % alert["snooze_ms"])
    if alert["valid_ms"] is not None:
        parts.append("valid for %d ms" % alert["valid_ms"])
    if alert["awaited"]:
        parts.append("awaited")
    parts.append("leaves " + leaves_hash(alert).hex())
    if alert["key"] is not None:
        parts.append(key_part(alert, told))
    parts.append("asked at %d ms" % alert["asked_boot_ms"])
    return "; ".join(parts)


def is_in_time(entry, alert):
    """Whether an expiry came after its deadline, by the deadline's own clock."""
    match = EXPIRED.fullmatch(entry["detail"])
    if match[1]:
        return True
    if entry["boot"] == alert["boot"] and alert["expires_boot_ms"] is not None:
        return int(match[2]) >= alert["expires_boot_ms"]
    return entry["at_ms"] >= alert["expires_ms"]


EXPIRED = re.compile(r"(nobody was there; )?(?:unseen; )?expired at (-?[0-9]+) ms")
GIVEN = re.compile(r"given at (-?[0-9]+) ms(?:; (.*))?")
ERASED = re.compile(r"alerts ([0-9]+(?:-[0-9]+)?(?:, [0-9]+(?:-[0-9]+)?)*)")


def is_erased(db, entry):
    """Whether the alerts of an erasure have lost their texts, and name the entry."""
    match = ERASED.fullmatch(entry["detail"])
    for part in match[1].split(", ") if match else []:
        first, _, last = part.partition("-")
        rows = db.execute(
            "SELECT * FROM alerts WHERE outcome IS NOT NULL AND id BETWEEN ? AND ?",
            (first, last or first)).fetchall()
        if len(rows) != int(last or first) - int(first) + 1:
            return False
        for row in rows:
            buttons = json.loads(row["buttons"])
            texts = [row["salt"], row["title"], row["message"]] + [b.get("title") for b in buttons]
            texts += [row["fields"], row["field_values"], row["note"]]
            if texts != [None] * len(texts) or row["info"] != "{}":
                return False
            if row["erased_seq"] != entry["seq"]:
                return False
    return match is not None


RESTORED = re.compile(
    r"backup (none|[0-9]+:[0-9a-f]{64})(?:; replaced (?:none|[0-9]+:[0-9a-f]{64}|an unreadable"
    r" queue)|; on another (server|timeline))?; alerts from ([0-9]+)"
    r"(?:; problems in entries (.*))?")


class Numbers:
    """The ids of alerts, which only a restore makes jump."""

    def __init__(self):
        self.last, self.start = 0, 0

    def fault(self, db, entry):
        if entry["event"] == "asked":
            self.last = max(self.last, entry["alert_id"])
            if entry["alert_id"] < self.start:
                return "its alert has an id from before the restore"
        if entry["event"] == "resolved":
            row = db.execute(
                "SELECT resolved_seq FROM alerts WHERE id = ?", (entry["alert_id"],)).fetchone()
            if row is None or row[0] != entry["seq"]:
                return "its alert does not name it"
        if entry["event"] == "restored" and entry["alert_id"] is None:
            return self.restore_fault(entry)
        return None

    def restore_fault(self, entry):
        match = RESTORED.fullmatch(entry["detail"] or "")
        if not match:
            return "it does not say what was restored"
        end = "%d:%s" % (entry["seq"] - 1, entry["previous"].hex())
        if match[1] != ("none" if entry["seq"] == 1 else end):
            return "it does not go on from the backup"
        first = int(match[3])
        jump = 0 if match[2] == "timeline" else 2**32
        if first - max(self.last, self.start - 1) <= jump:
            return "its ids were given before"
        self.start = first
        return None


def answer_detail(alert):
    """The expected detail of an answer's entry: the hash of its values and its note."""
    note, values = alert["note"], alert["field_values"]
    if note is None and values is None:
        return None
    return "values " + sha256(["alertq-values-1", alert["salt"], note, values]).hex()


def goes_stale(alert):
    """Whether the answer can go stale: it is not that of the cancel button."""
    if alert["valid_ms"] is None or alert["outcome"] not in ("answered", "expired"):
        return False
    buttons, index = json.loads(alert["buttons"]), alert["button_index"]
    return 0 <= index < len(buttons) and buttons[index].get("role") != "cancel"


def given_fault(entry, alert):
    """Whether the row has another time of the answer, by the boot clock, than the entry."""
    told = (alert["resolved_boot"], alert["resolved_boot_ms"])
    if not goes_stale(alert):
        return told != (None, None)
    match = (EXPIRED if alert["outcome"] == "expired" else GIVEN).fullmatch(entry["detail"] or "")
    if not match:
        return True
    return told != (entry["boot"], int(match[2 if alert["outcome"] == "expired" else 1]))


RESPONDER = "account_host responder_uid responder via tty ssh responder_host responder_pid".split()
ENDING = "outcome button_index resolved_by resolved_ms handled".split() + RESPONDER
ANSWER = "resolved_boot resolved_boot_ms field_values note collected_ms".split()


def ending(entry):
    """What a row has to say about how its alert ended, according to the entry."""
    # Nobody does what a timer does; the entry names the process that noticed.
    is_timer = entry["outcome"] == "expired" or (
        entry["outcome"] == "dismissed" and entry["resolved_by"] == "system")
    who = [entry[name] for name in "account_host uid user via tty ssh host pid".split()]
    handled = int(entry["detail"] == "handled by the delegate" and entry["outcome"] == "cancelled")
    told = [entry[name] for name in "outcome button_index resolved_by at_ms".split()]
    return told + [handled] + ([None] * len(who) if is_timer else who)


class Life:
    """What the entries about an alert say of its row, beside what each says by itself."""

    def __init__(self):
        self.has_ended, self.shown, self.snoozes, self.collected = False, None, 0, None
        self.successor = 0

    def add(self, entry):
        if entry["event"] == "presented":
            self.shown = entry["at_ms"]
        elif entry["event"] == "snoozed":
            self.snoozes += 1
        elif entry["event"] == "resolved":
            self.has_ended = True
        elif entry["event"] == "collected":
            self.collected = entry["at_ms"]
        elif entry["event"] == "superseded":
            self.successor = int((entry["detail"] or "").partition("by ")[2] or 0)

    def fault(self, row):
        """The fault in a row; None if there is none."""
        if not self.has_ended and any(row[name] is not None for name in ENDING + ANSWER):
            return "an alert that waits has a part of an answer"
        if row["superseded_by"] != self.successor:
            return "no entry says which alert took its place"
        if row["collected_ms"] != self.collected:
            return "its answer was not collected at the time that the log says"
        if row["presented_ms"] != self.shown:
            return "it was not shown at the time that the log says"
        if row["snoozes"] != self.snoozes:
            return "it was not snoozed as often as the log says"
        return None


def row_fault(db, entry, alert):
    """The fault in the rows that an entry describes; None if there is none."""
    if entry["event"] == "asked":
        detail = asked_detail(alert, entry["detail"])
        if (entry["boot"], entry["detail"]) != (alert["boot"], detail):
            return "the clock, the deadline, the timers, the wait or what is left were changed"
    if entry["event"] == "resolved" and ending(entry) != [alert[name] for name in ENDING]:
        return "how it ended was changed"
    if entry["outcome"] == "expired" and not is_in_time(entry, alert):
        return "it expired before its deadline"
    if entry["outcome"] is not None and given_fault(entry, alert):
        return "it was given at another time"
    if entry["outcome"] is not None and alert["salt"] is not None:
        detail = answer_detail(alert)
        expected = entry["detail"] if entry["outcome"] in ("answered", "dismissed") else None
        given = GIVEN.fullmatch(expected or "")
        if given:
            expected = given[2]
        if detail != expected:
            return "the values or the note of the answer were changed"
    if entry["event"] == "superseded" and entry["detail"] != "by %d" % alert["superseded_by"]:
        return "it names an alert other than the one that took its place"
    if entry["event"] == "erased" and not is_erased(db, entry):
        return "what is left of erased alerts was changed"
    return None


def numbers_in(text):
    """The numbers of a list such as `5, 9-12`."""
    for part in (text or "").split(", ") if text else []:
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


class Known:
    """The entries and alerts that restores have named as wrong before them, with who names them."""

    def __init__(self):
        self.entries, self.alerts, self.last, self.since = set(), {}, None, None

    def add(self, entry):
        if entry["alert_id"] is not None:
            self.alerts[entry["alert_id"]] = entry["seq"]
            self.since = self.last
            return
        self.last = entry["seq"]
        match = RESTORED.fullmatch(entry["detail"] or "")
        if match and match[4]:
            self.since = entry["seq"]
            self.entries.update(n for n in numbers_in(match[4]) if n < entry["seq"])

    def has(self, fault):
        entry, alert, _ = fault
        return entry < self.alerts.get(alert, 0) if alert is not None else entry in self.entries


def is_intact(entry):
    return entry["hash"] == sha256(["alertq-audit-1"] + [entry[name] for name in ENTRY])


def entry_faults(db, entry, asked):
    """The faults of an entry, and of the rows that it describes."""
    if not is_intact(entry):
        yield "it was changed"
        return
    if entry["event"] == "restored":
        # The alert that it names may be gone: that is why it is named.
        return
    alert = db.execute(
        "SELECT alerts.*, name AS source FROM alerts JOIN sources ON sources.id = source_id"
        " WHERE alerts.id = ?", (entry["alert_id"],)).fetchone()
    if entry["alert_id"] is not None and alert is None:
        yield "its alert is gone"
        return
    if entry["event"] == "asked":
        asked[entry["alert_id"]] = entry["content"]
    if entry["content"] is not None:
        if entry["content"] != asked.get(entry["alert_id"]):
            yield "it is not about what was asked"
        elif alert["salt"] is not None and entry["content"] != content_hash(alert):
            yield "the alert was changed"
    fault = row_fault(db, entry, alert)
    if fault:
        yield fault


def all_faults(db, known):
    """Each fault, as the entry that shows it, its alert, and a text."""
    last, previous, asked, numbers, lives = 0, bytes(32), {}, Numbers(), {}
    for entry in db.execute("SELECT * FROM audit ORDER BY seq"):
        for number in range(last + 1, entry["seq"]):
            yield number, None, "it is missing"
        if entry["seq"] == last + 1 and entry["previous"] != previous:
            yield entry["seq"], entry["alert_id"], "it does not continue the one before"
        last, previous = entry["seq"], entry["hash"]
        if entry["event"] == "restored" and is_intact(entry):
            known.add(entry)
        lives.setdefault(entry["alert_id"], Life()).add(entry)
        faults = [numbers.fault(db, entry), *entry_faults(db, entry, asked)]
        for fault in filter(None, faults):
            yield entry["seq"], entry["alert_id"], fault
    for row in db.execute("SELECT * FROM alerts"):
        fault = lives.get(row["id"], Life()).fault(row)
        if fault:
            yield 0, row["id"], fault
    upkeep = db.execute("SELECT first_id FROM upkeep").fetchone()
    if not upkeep or upkeep[0] != max(numbers.start, 1):
        yield None, None, "the next alert's id is not the one that the log says"


def verify(db):
    db.row_factory = sqlite3.Row
    known = Known()
    faults = list(all_faults(db, known))
    for fault in faults:
        if not known.has(fault):
            return "entry %s: %s" % (fault[0], fault[2]) if fault[0] else fault[2]
    count, last = db.execute("SELECT count(*), max(seq) FROM audit").fetchone()
    head = db.execute("SELECT hash FROM audit WHERE seq = ?", (last,)).fetchone()
    print(count, (head[0] if head else bytes(32)).hex())
    if faults:
        print("%d problems known since entry %s" % (len(faults), known.since))


if __name__ == "__main__":
    sys.exit(verify(sqlite3.connect(sys.argv[1])))
