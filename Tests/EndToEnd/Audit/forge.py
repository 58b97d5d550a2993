"""Forges an export of an audit log in many ways, and checks whether the verifier finds each.

Usage: forge.py EXPORT COUNT SEED [KIND]. Prints a line for each kind with how many forgeries there
were and how many were found with the right entry named; then each one that was not found.

Most forgeries are made in a stretch from the beginning, which is a log of its own, and checked
against its saved head; some are made in the whole log.
"""

import json
import random
import sys

from verify_export import Bad, computed_hash, verify


def dumped(entry):
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode()


def edited(value, rng):
    """Another value of the same kind, or of another."""
    if value is None:
        return rng.choice([0, "", "x", -1])
    if type(value) is int:
        return rng.choice([value + 1, value - 1, -value - 1, str(value), value + 0.5, None])
    changed = value[:-1] + chr(ord(value[-1]) ^ 1) if value else "x"
    return rng.choice([changed, value + " ", value + "0", None, [value]])


def edit(lines, rng):
    place = rng.randrange(len(lines))
    entry = json.loads(lines[place])
    name = rng.choice(list(entry))
    entry[name] = edited(entry[name], rng)
    lines[place] = dumped(entry)
    return {place + 1}


def edit_and_rehash(lines, rng):
    """An edit with a hash that fits: the next entry does not continue it."""
    place = rng.randrange(len(lines))
    entry = json.loads(lines[place])
    entry["via"] += "x"
    entry["hash"] = computed_hash(entry)
    lines[place] = dumped(entry)
    # The last one is the saved head itself.
    return {min(place + 2, len(lines))}


def rewrite_the_rest(lines, rng):
    """An edit, and new hashes to the end: only the saved head reveals it."""
    place = rng.randrange(len(lines))
    previous = None
    for number in range(place, len(lines)):
        entry = json.loads(lines[number])
        entry["host"] += "x" if previous is None else ""
        entry["previous"] = previous or entry["previous"]
        previous = entry["hash"] = computed_hash(entry)
        lines[number] = dumped(entry)
    return {len(lines)}


def byte(lines, rng):
    """One byte of a line is changed."""
    place = rng.randrange(len(lines))
    line = bytearray(lines[place])
    where = rng.randrange(len(line))
    line[where] ^= 1 << rng.randrange(8)
    lines[place] = bytes(line)
    return {place + 1}


def delete(lines, rng):
    place = rng.randrange(len(lines))
    del lines[place]
    return {place + 1}


def swap(lines, rng):
    one, other = sorted(rng.sample(range(len(lines)), 2))
    lines[one], lines[other] = lines[other], lines[one]
    return {one + 1}


def insert(lines, rng):
    """A copy, a new entry, or nonsense between two others."""
    # After the last entry, a new one is not a forgery: logs grow.
    place = rng.randrange(len(lines))
    entry = json.loads(lines[rng.randrange(len(lines))])
    before = json.loads(lines[place - 1])["hash"] if place else "0" * 64
    new = dict(entry, seq=place + 1, previous=before)
    new["hash"] = computed_hash(new)
    kind = rng.randrange(3)
    lines.insert(place, [dumped(entry), dumped(new), b"{}"][kind])
    if kind == 0 and entry["seq"] == place + 1:
        # A copy right before itself: the one after it is superfluous.
        return {place + 2}
    # A new entry is valid by itself; the one that it displaced is not, or the head is not.
    return {place + 2, place + 1} if kind == 1 else {place + 1}


def cut(lines, rng):
    end = rng.randrange(len(lines))
    del lines[end:]
    return {end + 1}


def nothing(lines, rng):
    """No forgery: a verifier that finds one here finds them everywhere."""
    return {0}


KINDS = [edit, edit_and_rehash, rewrite_the_rest, byte, delete, swap, insert, cut]


def named(lines, head):
    try:
        verify(lines, head=head)
    except Bad as bad:
        return bad.entry
    return None


def main():
    path, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    kinds = [k for k in KINDS + [nothing] if k.__name__ in sys.argv[4:]] or KINDS
    rng = random.Random(seed)
    with open(path, "rb") as file:
        log = [line.rstrip(b"\n") for line in file]
    made, found, missed = {}, {}, []
    for number in range(count):
        kind = kinds[number % len(kinds)]
        length = len(log) if number % 50 == 0 else min(len(log), rng.randint(2, 200))
        lines = log[:length]
        end = json.loads(lines[-1])
        right = kind(lines, rng)
        if lines == log[:length] and kind is not nothing:
            continue
        entry = named(lines, (end["seq"], end["hash"]))
        made[kind.__name__] = made.get(kind.__name__, 0) + 1
        if entry in right:
            found[kind.__name__] = found.get(kind.__name__, 0) + 1
        else:
            missed.append("%s: named %s, not %s" % (kind.__name__, entry, sorted(right)))
    for kind in made:
        print("%s %d %d" % (kind, made[kind], found.get(kind, 0)))
    print("\n".join(missed[:20]), file=sys.stderr)


if __name__ == "__main__":
    main()
