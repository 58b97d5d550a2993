"""Verifies the output of `alertq audit export`, from its documentation alone.

Usage: verify_export.py [--after HEAD] [--head HEAD] [FILE]

HEAD is NUMBER:HASH, as `alertq audit head` prints it. --after is the head after which the export
begins; without it, the export is the whole log. --head is a later one, which must be in the export:
only that shows that nothing was cut off. Without FILE it reads its standard input.

Exits with 0 and prints the number of entries and the head, or with 1 and names the first bad entry.
"""

import argparse
import hashlib
import json
import re
import sys

NUMBERS = {"seq", "at_ms"}
OPTIONAL_NUMBERS = {"alert_id", "button_index", "login_uid", "session", "pid"}
TEXTS = {"event", "principal", "via", "boot", "previous", "hash"}
# In the order of the hashes, which cover all fields but the last.
FIELDS = """
    seq at_ms event alert_id source outcome button_index button_role resolved_by principal
    user login_uid session via tty ssh means host boot pid content detail previous hash
""".split()
START = (0, "0" * 64)


class Bad(Exception):
    """The first entry that is not as it was written, and why."""

    def __init__(self, entry, reason):
        super().__init__("entry %d %s" % (entry, reason))
        self.entry = entry


def netstring(value):
    """A text or a number as `length:bytes,`; an absent value as `-,`."""
    if value is None:
        return b"-,"
    data = str(value).encode()
    return b"%d:%s," % (len(data), data)


def sha256(fields):
    return hashlib.sha256(b"".join(map(netstring, fields))).hexdigest()


def chained_hash(previous, alert, said):
    return sha256(["alertq-audit-1", previous, alert, said])


def computed_hash(entry):
    said = sha256(["alertq-entry-1"] + [entry[name] for name in FIELDS[:-2]])
    return chained_hash(entry["previous"], entry["alert_id"], said)


def is_right(name, value):
    """Whether a value has the type that its field has."""
    if name in NUMBERS or (name in OPTIONAL_NUMBERS and value is not None):
        return type(value) is int
    return type(value) is str or (value is None and name not in TEXTS and name not in NUMBERS)


def unique(pairs):
    """An object whose names are unique: another reader might take the other value."""
    entry = dict(pairs)
    if len(entry) != len(pairs):
        raise ValueError("a name is repeated")
    return entry


def parsed(line, number):
    try:
        entry = json.loads(line, object_pairs_hook=unique)
    except (ValueError, RecursionError):
        raise Bad(number, "is not a JSON object") from None
    if type(entry) is not dict or list(entry) != FIELDS:
        raise Bad(number, "does not have exactly the fields of an entry")
    for name, value in entry.items():
        if not is_right(name, value):
            raise Bad(number, "has an invalid “%s”" % name)
    return entry


def verify(lines, after=START, head=None):
    """Checks an export, and returns its end as (number, hash); raises Bad."""
    last, previous = after
    has_head = head is None or head == after
    for line in lines:
        number = last + 1
        entry = parsed(line, number)
        if entry["seq"] != number:
            raise Bad(number, "is missing: entry %d is in its place" % entry["seq"])
        try:
            hash_of_it = computed_hash(entry)
        except UnicodeEncodeError:
            raise Bad(number, "holds text that is not Unicode") from None
        if entry["hash"] != hash_of_it:
            raise Bad(number, "was changed")
        if entry["previous"] != previous:
            raise Bad(number, "does not continue entry %d: one of them was replaced" % last)
        last, previous = number, entry["hash"]
        if head and number == head[0]:
            if head[1] != previous:
                raise Bad(number, "is not the one of the saved head: the log was rewritten")
            has_head = True
    if not has_head:
        raise Bad(last + 1, "is missing: the export ends before the saved head %d" % head[0])
    return last, previous


def parsed_head(text):
    match = re.fullmatch(r"([1-9][0-9]{0,18}):([0-9a-f]{64})", text)
    if not match:
        raise argparse.ArgumentTypeError("“%s” is not a head: NUMBER:HASH" % text)
    return int(match[1]), match[2]


def main():
    parser = argparse.ArgumentParser(description="Verifies an export of an audit log.")
    parser.add_argument("--after", type=parsed_head, default=START)
    parser.add_argument("--head", type=parsed_head)
    parser.add_argument("file", nargs="?", default="-")
    options = parser.parse_args()
    try:
        with open(0 if options.file == "-" else options.file, "rb") as lines:
            last, previous = verify(lines, options.after, options.head)
    except Bad as bad:
        print(bad, file=sys.stderr)
        return 1
    print("%d entries verify; the head is %d:%s" % (last - options.after[0], last, previous))
    return 0


if __name__ == "__main__":
    sys.exit(main())
