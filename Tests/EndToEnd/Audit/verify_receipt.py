"""Verifies what `alertq receipt` prints, from its documentation alone.

Usage: verify_receipt.py [--head HEAD] FILE...

--head is a head that was kept elsewhere, which must be in each chain. Prints what was asked and chosen,
and exits with 0, or with 1 if something is wrong, which it says.
"""

import argparse
import json
import sys

from verify_export import Bad, chained_hash, parsed, parsed_head, computed_hash, sha256, unique

MEMBERS = "receipt alert note salt fields values entries between head".split()
ASKED = """
    id source style title message default priority key handler on buttons fields info
    dismiss_after_ms snooze_ms valid_ms
""".split()
PRIORITIES = ["low", "normal", "high", "critical"]


def content_hash(receipt):
    """The salted hash of everything that was asked."""
    alert, presenters = receipt["alert"], receipt["alert"]["on"] or []
    asked = ["alertq-content-1", receipt["salt"], alert["style"], alert["title"], alert["message"]]
    asked += [alert["default"], PRIORITIES.index(alert["priority"]), alert["key"], alert["handler"]]
    asked += [len(presenters)] + presenters + [len(alert["buttons"])]
    for button in alert["buttons"]:
        asked += [button["id"], button["title"], button["role"]]
    asked += [receipt["fields"], len(alert["info"])]
    for name in sorted(alert["info"], key=str.encode):
        asked += [name, alert["info"][name]]
    return sha256(asked)


def values_hash(receipt):
    """The salted hash of the values and the note; None if there are none."""
    if receipt["values"] is None and receipt["note"] is None:
        return None
    return sha256(["alertq-values-1", receipt["salt"], receipt["note"], receipt["values"]])


def check_chain(receipt, kept):
    """Follows the chain through the entries about the alert and the hashes of the others."""
    entries = [parsed(json.dumps(entry), 0) for entry in receipt["entries"]]
    last, has_kept = (entries[0]["seq"] - 1, entries[0]["previous"]), False
    for entry, others in zip(entries, receipt["between"], strict=True):
        if (entry["seq"], entry["previous"]) != (last[0] + 1, last[1]):
            raise Bad(entry["seq"], "does not continue entry %d" % last[0])
        if computed_hash(entry) != entry["hash"]:
            raise Bad(entry["seq"], "was changed")
        last = entry["seq"], entry["hash"]
        # What comes after the head that was kept is shown by nothing.
        has_kept = kept in (None, last)
        for other in others:
            alert, said = other.split(":")
            if int(alert) == receipt["alert"]["id"]:
                raise Bad(last[0] + 1, "is about the alert, and hidden")
            last = last[0] + 1, chained_hash(last[1], int(alert) or None, said)
            has_kept = has_kept or kept == last
    if "%d:%s" % last != receipt["head"]:
        raise Bad(last[0], "is not the head of the receipt")
    if not has_kept:
        raise Bad(kept[0], "is not in the chain after the last entry about the alert")
    return entries


def verify(receipt, kept):
    """Checks a receipt, and returns a line about it; raises Bad."""
    if receipt["receipt"] != "alertq-receipt-1" or list(receipt) != MEMBERS:
        raise Bad(0, "is of another version")
    if list(receipt["alert"]) != ASKED:
        raise Bad(0, "has other members of the alert")
    if any(list(button) != ["id", "title", "role"] for button in receipt["alert"]["buttons"]):
        raise Bad(0, "has other members of a button")
    alert, entries = receipt["alert"], check_chain(receipt, kept)
    asked, details = entries[0], [json.loads(entry["detail"] or "{}") for entry in entries]
    if {entry["alert_id"] for entry in entries} != {alert["id"]} or asked["event"] != "asked":
        raise Bad(asked["seq"], "is not the ask of this alert")
    if (asked["content"], asked["source"]) != (content_hash(receipt), alert["source"]):
        raise Bad(asked["seq"], "asked something else")
    for name in ("dismiss_after_ms", "snooze_ms", "valid_ms"):
        if details[0].get(name) != alert[name]:
            raise Bad(asked["seq"], "has another %s" % name)
    if json.loads(receipt["fields"] or "[]") != alert["fields"]:
        raise Bad(asked["seq"], "has other fields than the receipt")
    ends = [(entry, said) for entry, said in zip(entries, details) if entry["event"] == "resolved"]
    end, said = ends[0] if ends else (None, {})
    if said.get("values") != values_hash(receipt):
        raise Bad(end["seq"] if end else 0, "has other values, or another note")
    if end is None:
        return "%s: not ended by that head" % alert["title"]
    index = end["button_index"]
    chosen = alert["buttons"][index]["id"] if index >= 0 else "-"
    # Nobody does what a timer does.
    who = "nobody" if end["outcome"] == "expired" else end["user"]
    return "%s: %s, %s, by %s" % (alert["title"], end["outcome"], chosen, who)


def main():
    parser = argparse.ArgumentParser(description="Verifies a receipt.")
    parser.add_argument("--head", type=parsed_head)
    parser.add_argument("file", nargs="+")
    options, code = parser.parse_args(), 0
    for file in options.file:
        try:
            with open(file, encoding="utf-8") as text:
                print(verify(json.load(text, object_pairs_hook=unique), options.head))
        except (Bad, LookupError, TypeError, ValueError, AttributeError) as error:
            print("%s: %r" % (file, error), file=sys.stderr)
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
