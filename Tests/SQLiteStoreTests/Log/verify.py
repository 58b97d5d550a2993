"""Verifies the audit log of an alertq database, from its documentation alone.

Usage: verify.py DATABASE. Prints the number of entries and the last hash, or says what is wrong.
"""

import hashlib
import json
import re
import sqlite3
import sys

ENTRY = """
    seq at_ms event alert_id source outcome button_index button_role resolved_by principal
    user login_uid session via tty ssh means host boot pid content detail
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


def told(entry):
    """What the detail of an entry says; None if it is not the canonical JSON of an object."""
    if entry["detail"] is None:
        return {}
    try:
        said = json.loads(entry["detail"])
    except ValueError:
        return None
    text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return said if isinstance(said, dict) and text == entry["detail"] else None


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


def key_members(alert, said):
    """The members about the key in the detail of an ask's entry, with the salt given there."""
    salt = said.get("key_salt", "")
    digest = said.get("key") if alert["salt"] is None else key_hash(alert, salt).hex()
    return {"key": digest, "key_salt": salt}


def asked_detail(alert, said):
    """What the detail of an ask's entry should say: the deadline, the timers and the rest."""
    names = "asked_boot_ms expires_ms expires_boot_ms dismiss_after_ms snooze_ms valid_ms".split()
    expected = {
        name.replace("expires", "deadline"): alert[name]
        for name in names if alert[name] is not None}
    if alert["awaited"]:
        expected["waits"] = True
    if alert["key"] is not None:
        expected.update(key_members(alert, said))
    return {**expected, "leaves": leaves_hash(alert).hex()}


def is_in_time(entry, alert):
    """Whether an expiry came after its deadline, by the deadline's own clock."""
    said = told(entry)
    if "nobody_there" in said:
        return True
    if entry["boot"] == alert["boot"] and alert["expires_boot_ms"] is not None:
        return said.get("expired_boot_ms", -1) >= alert["expires_boot_ms"]
    return entry["at_ms"] >= alert["expires_ms"]


def ranges(ends):
    """The ranges of numbers whose first and last ones are listed in turn."""
    return list(zip(ends[::2], ends[1::2]))


def is_erased(db, entry):
    """Whether the alerts of an erasure have lost their texts, and name the entry."""
    erased = ranges(told(entry).get("alerts", []))
    for first, last in erased:
        rows = db.execute(
            "SELECT * FROM alerts WHERE outcome IS NOT NULL AND id BETWEEN ? AND ?",
            (first, last)).fetchall()
        if len(rows) != last - first + 1:
            return False
        for row in rows:
            buttons = json.loads(row["buttons"])
            texts = [row["salt"], row["title"], row["message"]] + [b.get("title") for b in buttons]
            texts += [row["fields"], row["field_values"], row["note"]]
            if texts != [None] * len(texts) or row["info"] != "{}":
                return False
            if row["erased_seq"] != entry["seq"]:
                return False
    return erased != []


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
        said = told(entry) or {}
        if not {"backup", "first_alert"} <= set(said):
            return "it does not say what was restored"
        end = "%d:%s" % (entry["seq"] - 1, entry["previous"].hex())
        if said["backup"] != ("none" if entry["seq"] == 1 else end):
            return "it does not go on from the backup"
        first = said["first_alert"]
        jump = 0 if said.get("replaced") == "timeline" else 2**32
        if first - max(self.last, self.start - 1) <= jump:
            return "its ids were given before"
        self.start = first
        return None


def answer_detail(alert):
    """What an answer's entry should say of its values and its note: their hash."""
    note, values = alert["note"], alert["field_values"]
    if note is None and values is None:
        return None
    return sha256(["alertq-values-1", alert["salt"], note, values]).hex()


def goes_stale(alert):
    """Whether the answer can go stale: it is not that of the cancel button."""
    if alert["valid_ms"] is None or alert["outcome"] not in ("answered", "expired"):
        return False
    buttons, index = json.loads(alert["buttons"]), alert["button_index"]
    return 0 <= index < len(buttons) and buttons[index].get("role") != "cancel"


def given_fault(entry, alert):
    """Whether the row has another time of the answer, by the boot clock, than the entry."""
    row = (alert["resolved_boot"], alert["resolved_boot_ms"])
    if not goes_stale(alert):
        return row != (None, None)
    name = "expired_boot_ms" if alert["outcome"] == "expired" else "given_boot_ms"
    return row != (entry["boot"], told(entry).get(name))


RESPONDER = """
    responder responder_name via tty ssh responder_means responder_host responder_pid
""".split()
ENDING = "outcome button_index resolved_by resolved_ms handled".split() + RESPONDER
ANSWER = "resolved_boot resolved_boot_ms field_values note collected_ms".split()


def ending(entry):
    """What a row has to say about how its alert ended, according to the entry."""
    # Nobody does what a timer does; the entry names the process that noticed.
    is_timer = entry["outcome"] == "expired" or (
        entry["outcome"] == "dismissed" and entry["resolved_by"] == "system")
    who = [entry[name] for name in "principal user via tty ssh means host pid".split()]
    handled = int("handled" in told(entry))
    ends = [entry[name] for name in "outcome button_index resolved_by at_ms".split()]
    return ends + [handled] + ([None] * len(who) if is_timer else who)


class Life:
    """What the entries about an alert say of its row, beside what each says by itself."""

    def __init__(self):
        self.has_ended, self.shown, self.snoozes, self.collected = False, None, 0, None
        self.successor, self.asked = 0, None

    def add(self, entry):
        if entry["event"] == "asked":
            self.asked = self.asked or entry
        elif entry["event"] == "presented":
            self.shown = entry["at_ms"]
        elif entry["event"] == "snoozed":
            self.snoozes += 1
        elif entry["event"] == "resolved":
            self.has_ended = True
        elif entry["event"] == "collected":
            self.collected = entry["at_ms"]
        elif entry["event"] == "superseded":
            self.successor = (told(entry) or {}).get("by", 0)

    def fault(self, row):
        """The fault in a row; None if there is none."""
        if not self.asked:
            return "it was never asked"
        if row["asked_ms"] != self.asked["at_ms"]:
            return "it was not asked at the time that the log says"
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
    said = told(entry)
    if entry["event"] == "asked":
        if (entry["boot"], said) != (alert["boot"], asked_detail(alert, said)):
            return "the clock, the deadline, the timers, the wait or what is left were changed"
    if entry["event"] == "resolved" and ending(entry) != [alert[name] for name in ENDING]:
        return "how it ended was changed"
    if entry["outcome"] == "expired" and not is_in_time(entry, alert):
        return "it expired before its deadline"
    if entry["outcome"] is not None and given_fault(entry, alert):
        return "it was given at another time"
    if entry["outcome"] is not None and alert["salt"] is not None:
        if answer_detail(alert) != said.get("values"):
            return "the values or the note of the answer were changed"
    if entry["event"] == "superseded" and said != {"by": alert["superseded_by"]}:
        return "it names an alert other than the one that took its place"
    if entry["event"] == "erased" and not is_erased(db, entry):
        return "what is left of erased alerts was changed"
    return None


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
        for first, last in ranges((told(entry) or {}).get("problems", [])):
            self.since = entry["seq"]
            self.entries.update(range(first, min(last + 1, entry["seq"])))

    def has(self, fault):
        entry, alert, _ = fault
        return entry < self.alerts.get(alert, 0) if alert is not None else entry in self.entries


def is_intact(entry):
    said = sha256(["alertq-entry-1"] + [entry[name] for name in ENTRY])
    linked = ["alertq-audit-1", entry["previous"], entry["alert_id"], said]
    return entry["hash"] == sha256(linked)


def entry_faults(db, entry, asked):
    """The faults of an entry, and of the rows that it describes."""
    if not is_intact(entry):
        yield "it was changed"
        return
    if told(entry) is None:
        yield "its detail is not canonical JSON"
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
        for number in sorted({last + 1, entry["seq"] - 1} if entry["seq"] > last + 1 else set()):
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
