-- 0001 create the queue
--
-- Why:    questions and answers must survive every process that asks, shows or answers them.
-- Shape:  sources ask alerts, each of which ends at most once; the audit log tells every
--         transition, each entry chained to the one before. Times are milliseconds since 1970 in
--         UTC (`_ms`), or since the start of the machine that `boot` names (`_boot_ms`). Checks
--         of more than two words are comparisons: SQLite builds a table in memory for each row
--         that "x IN (...)" checks.
-- Runs:   once; its version stamp commits in the same transaction.
-- Never edit this file; add the next number instead.

-- Who asks. `principal` is an account or a person: `1000` is an account of the machine that the file
-- belongs to, `1000@db7` one of another machine, and `person:boss` a person without an account. The
-- source without a name stands for all of its principal's, and so does its `pending`, which counts the
-- queued alerts, so that a bound costs no scan.
CREATE TABLE sources (
    id        INTEGER PRIMARY KEY,
    principal TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    pending   INTEGER NOT NULL DEFAULT 0 CHECK (pending >= 0),
    UNIQUE (principal, name)
) STRICT;

CREATE TRIGGER sources_stay BEFORE DELETE ON sources
BEGIN SELECT RAISE (ABORT, 'a source is kept for ever'); END;
-- REPLACE deletes without asking the trigger above.
CREATE TRIGGER sources_come_once BEFORE INSERT ON sources
    WHEN EXISTS (SELECT 1 FROM sources
        WHERE id = new.id OR (principal = new.principal AND name = new.name))
BEGIN SELECT RAISE (ABORT, 'a source is kept for ever'); END;
-- Not `OF`: it does not see an id that is set as `rowid`, `oid` or `_rowid_`.
CREATE TRIGGER sources_are_final BEFORE UPDATE ON sources
    WHEN new.id <> old.id OR new.principal <> old.principal OR new.name <> old.name
BEGIN SELECT RAISE (ABORT, 'a source never changes'); END;

-- Which entry of the log tells of the last appearance of a source's alerts of a priority, of a
-- principal's (`source_id` is 0), and of all with that priority (`principal_id` is 0, too). Both are
-- ids of `sources`.
CREATE TABLE turns (
    priority     INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 3),
    principal_id INTEGER NOT NULL,
    source_id    INTEGER NOT NULL,
    seq          INTEGER NOT NULL,
    PRIMARY KEY (priority, principal_id, source_id)
) STRICT, WITHOUT ROWID;

-- What was asked, which never changes but for an erasure, and how it ended, which is written once.
-- An alert without an outcome waits.
CREATE TABLE alerts (
    id               INTEGER PRIMARY KEY,
    source_id        INTEGER NOT NULL REFERENCES sources (id),
    -- What spoke for the asker, unless it was a process: `device:phone`, `token:ci`, `link`.
    means            TEXT,
    pid              INTEGER,
    host             TEXT,
    key              TEXT    CHECK (key <> ''),
    style            TEXT    NOT NULL CHECK (style IN ('alert', 'actionSheet')),
    priority         INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 3),
    default_button   TEXT,
    handler          TEXT,
    presenters       TEXT,
    salt             BLOB,
    dismiss_after_ms INTEGER CHECK (dismiss_after_ms > 0),
    snooze_ms        INTEGER CHECK (snooze_ms > 0),
    -- How long an answer may be used that is not the cancel button's.
    valid_ms         INTEGER CHECK (valid_ms > 0),
    -- Whether its asker waits for the response.
    awaited          INTEGER NOT NULL DEFAULT 0 CHECK (awaited IN (0, 1)),
    boot             TEXT    NOT NULL,
    asked_ms         INTEGER NOT NULL,
    asked_boot_ms    INTEGER NOT NULL,
    -- A deadline without a boot time is a moment of the wall clock.
    expires_ms       INTEGER,
    expires_boot_ms  INTEGER CHECK (expires_boot_ms IS NULL OR expires_ms IS NOT NULL),

    -- The entry of the log since which the alert is in line: that of its ask, or of its last
    -- snooze after it was shown.
    queued_seq       INTEGER NOT NULL,
    presented_ms     INTEGER,
    snoozes          INTEGER NOT NULL DEFAULT 0,
    -- The end of a snooze; `snoozed_boot` is empty for a moment of the wall clock.
    snoozed_ms       INTEGER,
    snoozed_boot_ms  INTEGER,
    snoozed_boot     TEXT,

    -- `resolved_seq` is the entry of the log that tells how it ended, and `erased_seq` the one
    -- that tells that the texts were erased.
    outcome          TEXT,
    button_index     INTEGER CHECK (button_index >= -1),
    resolved_by      TEXT,
    handled          INTEGER CHECK (handled IN (0, 1)),
    -- The principal, and what it was called: the name of an account, or the person.
    responder        TEXT,
    responder_name   TEXT,
    via              TEXT,
    tty              TEXT,
    ssh              TEXT,
    responder_means  TEXT,
    responder_host   TEXT,
    responder_pid    INTEGER,
    resolved_ms      INTEGER,
    resolved_seq     INTEGER,
    -- The boot clock, of an answer that goes stale.
    resolved_boot_ms INTEGER,
    resolved_boot    TEXT    CHECK (resolved_boot IS NULL OR valid_ms IS NOT NULL),
    collected_ms     INTEGER,
    erased_seq       INTEGER,
    -- The alert that its asker asked in its place, under its key; 0 if there is none.
    superseded_by    INTEGER NOT NULL DEFAULT 0
                     CHECK (superseded_by = 0 OR superseded_by > id),

    -- Last, so that the others are reached without reading long texts.
    title            TEXT    CHECK (title <> ''),
    message          TEXT,
    buttons          TEXT    NOT NULL,
    info             TEXT    NOT NULL,
    -- What it asks for beside the buttons, and what was answered.
    fields           TEXT,
    field_values     TEXT,
    note             TEXT    CHECK (note <> ''),
    CHECK (outcome IS NULL OR (button_index IS NOT NULL AND resolved_by IS NOT NULL
        AND handled IS NOT NULL AND resolved_ms IS NOT NULL AND resolved_seq IS NOT NULL
        AND snoozed_ms IS NULL)),
    CHECK (outcome IS NOT NULL
        OR coalesce(button_index, resolved_by, handled, responder, responder_name, via, tty, ssh,
            responder_means, responder_host, responder_pid, resolved_ms, resolved_seq, resolved_boot, collected_ms,
            field_values, note) IS NULL),
    CHECK (field_values IS NULL OR fields IS NOT NULL),
    CHECK ((snoozed_ms IS NULL) = (snoozed_boot IS NULL)),
    CHECK ((snoozed_ms IS NULL) = (snoozed_boot_ms IS NULL)),
    CHECK ((resolved_boot IS NULL) = (resolved_boot_ms IS NULL)),
    CHECK (outcome <> 'answered' OR button_index >= 0),
    CHECK (outcome NOT IN ('dismissed', 'withdrawn') OR button_index = -1),
    CHECK (superseded_by = 0 OR outcome IS NOT NULL)
) STRICT;

-- "Has this source asked with this key before?", and the history of a key. The key is that of the
-- alert that no other has superseded.
CREATE UNIQUE INDEX alerts_key ON alerts (key, source_id, superseded_by) WHERE key IS NOT NULL;
-- "What waits, and what of this source is shown next?", one look for each priority and source.
CREATE INDEX alerts_next ON alerts (priority, source_id, queued_seq)
    WHERE outcome IS NULL AND snoozed_ms IS NULL;
-- "Whose deadline has passed?": by boot time for those of this boot, and by the wall clock for
-- moments, which have no boot time; those of earlier boots are looked through.
CREATE INDEX alerts_expiry ON alerts (boot, expires_boot_ms, expires_ms)
    WHERE outcome IS NULL AND expires_ms IS NOT NULL;
-- "Whose snooze is over?", likewise.
CREATE INDEX alerts_snoozed ON alerts (snoozed_boot, snoozed_boot_ms, snoozed_ms)
    WHERE outcome IS NULL AND snoozed_ms IS NOT NULL;

-- The history, newest first: the newest of each outcome are merged. Other filters look through
-- what one of these finds.
-- "What ended in this way?"
CREATE INDEX alerts_outcome ON alerts (outcome, resolved_ms, resolved_seq)
    WHERE outcome IS NOT NULL;
-- "… asked by this source?"
CREATE INDEX alerts_source_outcome ON alerts (source_id, outcome, resolved_ms, resolved_seq)
    WHERE outcome IS NOT NULL;
-- "What was decided by this user?"
CREATE INDEX alerts_responder ON alerts (responder_name, resolved_ms, resolved_seq)
    WHERE responder_name IS NOT NULL;
-- "… and was asked by this source?"
CREATE INDEX alerts_source_responder
    ON alerts (source_id, responder_name, resolved_ms, resolved_seq)
    WHERE responder_name IS NOT NULL;
-- "Which responses wait for this handler?", and which were not collected yet.
CREATE INDEX alerts_uncollected ON alerts (handler, resolved_seq)
    WHERE outcome IS NOT NULL AND collected_ms IS NULL;

-- An alert is kept, and neither its question nor its end changes. An erasure removes the texts of
-- an alert that has ended, and a response is collected once.
CREATE TRIGGER alerts_stay BEFORE DELETE ON alerts
BEGIN SELECT RAISE (ABORT, 'an alert is kept for ever'); END;
-- REPLACE deletes without asking the trigger above.
CREATE TRIGGER alerts_come_once BEFORE INSERT ON alerts
    WHEN EXISTS (SELECT 1 FROM alerts
        WHERE id = new.id OR (key = new.key AND source_id = new.source_id
            AND superseded_by = new.superseded_by))
BEGIN SELECT RAISE (ABORT, 'an alert is kept for ever'); END;
-- `UPDATE OF id` does not see an id that is set as `rowid`, `oid` or `_rowid_`.
CREATE TRIGGER ids_are_final BEFORE UPDATE ON alerts WHEN new.id <> old.id
BEGIN SELECT RAISE (ABORT, 'a question never changes'); END;
CREATE TRIGGER questions_are_final BEFORE UPDATE OF
    source_id, means, pid, host, key, style, priority, handler, presenters, dismiss_after_ms,
    snooze_ms, valid_ms, awaited, boot, asked_ms, asked_boot_ms, expires_ms, expires_boot_ms ON alerts
BEGIN SELECT RAISE (ABORT, 'a question never changes'); END;
CREATE TRIGGER texts_are_final BEFORE UPDATE OF
    title, message, buttons, info, fields, default_button, salt ON alerts
    WHEN old.outcome IS NULL OR old.salt IS NULL
        OR coalesce(new.title, new.message, new.fields, new.salt) IS NOT NULL OR new.info <> '{}'
BEGIN SELECT RAISE (ABORT, 'a question never changes'); END;
CREATE TRIGGER responses_are_final BEFORE UPDATE OF
    outcome, button_index, resolved_by, handled, responder, responder_name, via, tty, ssh,
    responder_means, responder_host, responder_pid, resolved_ms, resolved_seq, resolved_boot_ms, resolved_boot
    ON alerts WHEN old.outcome IS NOT NULL
BEGIN SELECT RAISE (ABORT, 'a response is final'); END;
CREATE TRIGGER alerts_are_superseded_once BEFORE UPDATE OF superseded_by ON alerts
    WHEN old.outcome IS NULL OR old.superseded_by <> 0
BEGIN SELECT RAISE (ABORT, 'an alert is superseded once'); END;
-- An erasure removes what was entered along with the question's texts.
CREATE TRIGGER values_are_final BEFORE UPDATE OF field_values, note ON alerts
    WHEN old.outcome IS NOT NULL
        AND coalesce(new.field_values, new.note, new.salt) IS NOT NULL
BEGIN SELECT RAISE (ABORT, 'a response is final'); END;
CREATE TRIGGER responses_are_collected_once BEFORE UPDATE OF collected_ms ON alerts
    WHEN new.outcome IS NULL OR old.collected_ms IS NOT NULL
BEGIN SELECT RAISE (ABORT, 'a response is collected once'); END;

-- The audit log. `hash` covers every other column, `previous` among them; the documentation
-- has the bytes. `principal`, `user` and `means` are those of who did it, as in `alerts`.
-- `content` is a salted hash of what was asked; its salt is in `alerts`.
CREATE TABLE audit (
    seq          INTEGER PRIMARY KEY,
    at_ms        INTEGER NOT NULL,
    event        TEXT    NOT NULL,
    alert_id     INTEGER,
    source       TEXT,
    outcome      TEXT,
    button_index INTEGER,
    button_role  TEXT,
    resolved_by  TEXT,
    principal    TEXT    NOT NULL,
    user         TEXT,
    login_uid    INTEGER,
    session      INTEGER,
    via          TEXT    NOT NULL,
    tty          TEXT,
    ssh          TEXT,
    means        TEXT,
    host         TEXT,
    boot         TEXT    NOT NULL,
    pid          INTEGER,
    content      BLOB    CHECK (length(content) = 32),
    detail       TEXT,
    previous     BLOB    NOT NULL CHECK (length(previous) = 32),
    hash         BLOB    NOT NULL CHECK (length(hash) = 32)
) STRICT;

-- "What happened to this alert?"
CREATE INDEX audit_alert ON audit (alert_id) WHERE alert_id IS NOT NULL;
-- "Was the queue restored since this answer?"
CREATE INDEX audit_restored ON audit (seq) WHERE event = 'restored';

CREATE TRIGGER audit_is_append_only_update BEFORE UPDATE ON audit
BEGIN SELECT RAISE (ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_is_append_only_delete BEFORE DELETE ON audit
BEGIN SELECT RAISE (ABORT, 'the audit log is append-only'); END;
-- REPLACE deletes without asking the trigger above, and a gap would hide a cut.
CREATE TRIGGER audit_has_no_gaps BEFORE INSERT ON audit
    WHEN new.seq <> coalesce((SELECT max(seq) FROM audit), 0) + 1
BEGIN SELECT RAISE (ABORT, 'the audit log is append-only'); END;
-- A program that still has the file open when a later version migrates it can no longer write: its
-- connection does not define the function for the later schema, whose migration makes this anew.
CREATE TRIGGER audit_needs_this_version BEFORE INSERT ON audit
    WHEN NOT this_queue_needs_a_newer_alertq (1)
BEGIN SELECT RAISE (ABORT, 'this queue needs a newer alertq'); END;

-- Which changes have taken effect whose callers gave them a name, so that a caller whose reply was
-- lost finds the change again. Kept for a day.
CREATE TABLE requests (
    id        INTEGER PRIMARY KEY,
    principal TEXT    NOT NULL,
    request   BLOB    NOT NULL CHECK (length(request) = 16),
    position  INTEGER NOT NULL,
    alert_id  INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    made_ms   INTEGER NOT NULL,
    UNIQUE (request, principal, position)
) STRICT;
-- "Which of them are too old?"
CREATE INDEX requests_made ON requests (made_ms);

-- "Which responses are to questions with these words?", by `resolved_seq`. The index has no texts of
-- its own; it is filled later, so that no question and no answer pays for it. What a word is, is not
-- left to the tokenizer: it gets words that `SearchWords` has made, and splits at spaces.
CREATE VIRTUAL TABLE text_index USING fts5 (
    title, message, buttons, info, answer,
    content = '', columnsize = 0, tokenize = 'ascii'
);

-- One row: where ids go on after a restore, how far the index goes, and whether an erasure is under
-- way.
CREATE TABLE upkeep (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    -- The lowest id that the next alert may get.
    first_id    INTEGER NOT NULL DEFAULT 1 CHECK (first_id >= 1),
    -- The index has the responses of all entries up to this one, but for those whose texts are
    -- erased.
    indexed_seq INTEGER NOT NULL DEFAULT 0 CHECK (indexed_seq >= 0),
    -- The newest time among them, and the farthest that one of them lies before an earlier one,
    -- because somebody set the clock: within this, the order of entries is the order of time.
    newest_ms   INTEGER,
    disorder_ms INTEGER NOT NULL DEFAULT 0 CHECK (disorder_ms >= 0),
    -- How often texts were erased, and up to which of these times they are known to be gone from
    -- the index's old pieces, the log and the unused places of the file.
    erasures      INTEGER NOT NULL DEFAULT 0,
    erasures_done INTEGER NOT NULL DEFAULT 0 CHECK (erasures_done <= erasures)
) STRICT;
INSERT INTO upkeep (id) VALUES (1);
CREATE TRIGGER upkeep_stays BEFORE DELETE ON upkeep
BEGIN SELECT RAISE (ABORT, 'the row of upkeep is kept for ever'); END;

-- For people with sqlite3: what waits, most urgent first, and what was answered, newest first.
CREATE VIEW pending AS
SELECT alerts.id, sources.name AS source,
       iif(principal GLOB '[0-9]*', CAST (principal AS INTEGER), NULL) AS uid, key,
       CASE priority WHEN 0 THEN 'low' WHEN 1 THEN 'normal' WHEN 2 THEN 'high'
                     ELSE 'critical' END AS priority,
       title, message, buttons,
       strftime('%Y-%m-%dT%H:%M:%fZ', asked_ms / 1000.0, 'unixepoch') AS asked_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', expires_ms / 1000.0, 'unixepoch') AS expires_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', snoozed_ms / 1000.0, 'unixepoch') AS snoozed_until,
       snoozes, fields, principal
-- Each half by its index, so that resolved alerts cost nothing.
FROM (SELECT * FROM alerts INDEXED BY alerts_next
          WHERE outcome IS NULL AND snoozed_ms IS NULL
      UNION ALL
      SELECT * FROM alerts INDEXED BY alerts_snoozed
          WHERE outcome IS NULL AND snoozed_ms IS NOT NULL) AS alerts
JOIN sources ON sources.id = alerts.source_id
ORDER BY alerts.priority DESC, alerts.id;

CREATE VIEW history AS
SELECT alerts.id, sources.name AS source,
       iif(principal GLOB '[0-9]*', CAST (principal AS INTEGER), NULL) AS source_uid, key,
       coalesce(title, '#' || alerts.id) AS title, message, outcome,
       iif(button_index >= 0 AND json_valid(buttons),
           buttons ->> ('$[' || button_index || '].id'), NULL) AS button,
       button_index, resolved_by,
       iif(responder GLOB '[0-9]*', CAST (responder AS INTEGER), NULL) AS uid,
       responder_name AS user, via, tty, ssh, responder_host AS host, responder_pid AS pid,
       strftime('%Y-%m-%dT%H:%M:%fZ', asked_ms / 1000.0, 'unixepoch') AS asked_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', resolved_ms / 1000.0, 'unixepoch') AS resolved_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', collected_ms / 1000.0, 'unixepoch') AS collected_at,
       field_values, note, nullif(superseded_by, 0) AS superseded_by,
       valid_ms, principal AS source_principal, responder AS principal, responder_means AS means
FROM alerts
JOIN sources ON sources.id = alerts.source_id
WHERE outcome IS NOT NULL
ORDER BY resolved_ms DESC, resolved_seq DESC;
