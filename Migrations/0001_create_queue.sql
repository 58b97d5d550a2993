-- 0001 create the queue
--
-- Why:    questions and answers must survive every process that asks, shows or answers them.
-- Shape:  sources ask alerts; an alert gets at most one response; the audit log tells every
--         transition, each entry chained to the one before. Times are milliseconds since 1970 in
--         UTC (`_ms`), or since the start of the machine that `boot` names (`_boot_ms`).
-- Safety: new tables only; no rewrite, no lock beyond this transaction.
-- Runs:   once; its version stamp commits in the same transaction.
-- Never edit this file after release; add the next number instead.

-- Who asks. `pending` counts the queued alerts, so that a bound costs no scan.
CREATE TABLE sources (
    id      INTEGER PRIMARY KEY,
    uid     INTEGER NOT NULL,
    name    TEXT    NOT NULL CHECK (name <> ''),
    pending INTEGER NOT NULL DEFAULT 0 CHECK (pending >= 0),
    UNIQUE (uid, name)
) STRICT;

CREATE TABLE alerts (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    source_id        INTEGER NOT NULL REFERENCES sources (id),
    pid              INTEGER NOT NULL,
    host             TEXT    NOT NULL,
    key              TEXT    CHECK (key <> ''),
    style            TEXT    NOT NULL CHECK (style IN ('alert', 'actionSheet')),
    priority         INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 3),
    title            TEXT    CHECK (title <> ''),
    message          TEXT,
    buttons          TEXT    NOT NULL,
    info             TEXT    NOT NULL,
    default_button   TEXT,
    handler          TEXT,
    presenters       TEXT,
    salt             BLOB,
    dismiss_after_ms INTEGER CHECK (dismiss_after_ms > 0),
    snooze_ms        INTEGER CHECK (snooze_ms > 0),
    boot             TEXT    NOT NULL,
    asked_ms         INTEGER NOT NULL,
    asked_boot_ms    INTEGER NOT NULL,
    expires_ms       INTEGER,
    expires_boot_ms  INTEGER,
    state            TEXT    NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'resolved')),
    presented_ms     INTEGER,
    snoozes          INTEGER NOT NULL DEFAULT 0,
    snoozed_ms       INTEGER,
    snoozed_boot_ms  INTEGER,
    snoozed_boot     TEXT,
    cancel_requested INTEGER NOT NULL DEFAULT 0 CHECK (cancel_requested IN (0, 1))
) STRICT;

-- "Has this source asked with this key before?"
CREATE UNIQUE INDEX alerts_key ON alerts (source_id, key) WHERE key IS NOT NULL;
-- "What is shown next?", one look for each priority; also the list of what waits.
CREATE INDEX alerts_next ON alerts (priority, id)
    WHERE state = 'queued' AND snoozed_ms IS NULL;
-- "Whose snooze is over?", by the wall clock and, within one boot, by boot time.
CREATE INDEX alerts_snoozed ON alerts (snoozed_ms)
    WHERE state = 'queued' AND snoozed_ms IS NOT NULL;
CREATE INDEX alerts_snoozed_boot ON alerts (snoozed_boot, snoozed_boot_ms)
    WHERE state = 'queued' AND snoozed_ms IS NOT NULL;
-- "Whose deadline has passed?", likewise.
CREATE INDEX alerts_expiry ON alerts (expires_ms)
    WHERE state = 'queued' AND expires_ms IS NOT NULL;
CREATE INDEX alerts_expiry_boot ON alerts (boot, expires_boot_ms)
    WHERE state = 'queued' AND expires_ms IS NOT NULL;

-- The one result of an alert. Source, key and handler are repeated here for the indexes.
CREATE TABLE responses (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    alert_id     INTEGER NOT NULL UNIQUE REFERENCES alerts (id),
    source       TEXT    NOT NULL,
    key          TEXT,
    handler      TEXT,
    outcome      TEXT    NOT NULL CHECK (outcome IN
                     ('answered', 'cancelled', 'dismissed', 'expired', 'withdrawn')),
    button       TEXT,
    button_index INTEGER NOT NULL CHECK (button_index >= -1),
    resolved_by  TEXT    NOT NULL CHECK (resolved_by IN ('person', 'policy', 'asker', 'system')),
    handled      INTEGER NOT NULL DEFAULT 0 CHECK (handled IN (0, 1)),
    uid          INTEGER,
    user         TEXT,
    via          TEXT,
    tty          TEXT,
    ssh          TEXT,
    host         TEXT,
    pid          INTEGER,
    resolved_ms  INTEGER NOT NULL,
    collected_ms INTEGER,
    CHECK (outcome <> 'answered' OR button_index >= 0),
    CHECK (outcome NOT IN ('dismissed', 'withdrawn') OR button_index = -1)
) STRICT;

-- The history, newest first: everything, and by each filter and useful pair of filters.
CREATE INDEX responses_time ON responses (resolved_ms);
CREATE INDEX responses_source ON responses (source, resolved_ms);
CREATE INDEX responses_key ON responses (key, resolved_ms) WHERE key IS NOT NULL;
CREATE INDEX responses_outcome ON responses (outcome, resolved_ms);
CREATE INDEX responses_button ON responses (button, resolved_ms) WHERE button IS NOT NULL;
CREATE INDEX responses_by ON responses (resolved_by, resolved_ms);
CREATE INDEX responses_source_outcome ON responses (source, outcome, resolved_ms);
CREATE INDEX responses_source_button ON responses (source, button, resolved_ms)
    WHERE button IS NOT NULL;
CREATE INDEX responses_source_by ON responses (source, resolved_by, resolved_ms);
CREATE INDEX responses_uncollected ON responses (resolved_ms) WHERE collected_ms IS NULL;
-- "Which responses wait for this handler?"
CREATE INDEX responses_handler ON responses (handler, seq)
    WHERE handler IS NOT NULL AND collected_ms IS NULL;

-- A response never changes; it can only be collected, once, and lose its button's text.
CREATE TRIGGER responses_are_final BEFORE UPDATE OF
    seq, alert_id, source, key, handler, outcome, button_index, resolved_by, handled,
    uid, user, via, tty, ssh, host, pid, resolved_ms ON responses
BEGIN SELECT RAISE (ABORT, 'a response is final'); END;
CREATE TRIGGER responses_are_collected_once BEFORE UPDATE OF collected_ms ON responses
    WHEN old.collected_ms IS NOT NULL
BEGIN SELECT RAISE (ABORT, 'a response is collected once'); END;
-- REPLACE deletes without asking the trigger below.
CREATE TRIGGER responses_come_once BEFORE INSERT ON responses
    WHEN EXISTS (SELECT 1 FROM responses WHERE alert_id = new.alert_id OR seq = new.seq)
BEGIN SELECT RAISE (ABORT, 'a response is final'); END;
CREATE TRIGGER responses_stay BEFORE DELETE ON responses
BEGIN SELECT RAISE (ABORT, 'a response is kept for ever'); END;

-- The audit log. `hash` covers every other column, `previous` among them; the README documents
-- the bytes. `content` is a salted hash of what was asked and shown; its salt is in `alerts`.
CREATE TABLE audit (
    seq          INTEGER PRIMARY KEY,
    at_ms        INTEGER NOT NULL,
    event        TEXT    NOT NULL CHECK (event IN ('asked', 'presented', 'returned', 'snoozed',
                     'resolved', 'collected', 'erased')),
    alert_id     INTEGER,
    source       TEXT,
    outcome      TEXT,
    button_index INTEGER,
    button_role  TEXT,
    resolved_by  TEXT,
    uid          INTEGER NOT NULL,
    user         TEXT,
    login_uid    INTEGER,
    session      INTEGER,
    via          TEXT    NOT NULL,
    tty          TEXT,
    ssh          TEXT,
    host         TEXT    NOT NULL,
    pid          INTEGER NOT NULL,
    content      BLOB    CHECK (length(content) = 32),
    detail       TEXT,
    previous     BLOB    NOT NULL CHECK (length(previous) = 32),
    hash         BLOB    NOT NULL CHECK (length(hash) = 32)
) STRICT;

-- "What happened to this alert?"
CREATE INDEX audit_alert ON audit (alert_id) WHERE alert_id IS NOT NULL;

CREATE TRIGGER audit_is_append_only_update BEFORE UPDATE ON audit
BEGIN SELECT RAISE (ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_is_append_only_delete BEFORE DELETE ON audit
BEGIN SELECT RAISE (ABORT, 'the audit log is append-only'); END;
-- REPLACE deletes without asking the trigger above, and a gap would hide a cut.
CREATE TRIGGER audit_has_no_gaps BEFORE INSERT ON audit
    WHEN new.seq <> coalesce((SELECT max(seq) FROM audit), 0) + 1
BEGIN SELECT RAISE (ABORT, 'the audit log is append-only'); END;

-- For people with sqlite3: what waits, most urgent first, and what was answered, newest first.
CREATE VIEW pending AS
SELECT alerts.id, sources.name AS source, sources.uid, key,
       CASE priority WHEN 0 THEN 'low' WHEN 1 THEN 'normal' WHEN 2 THEN 'high'
                     ELSE 'critical' END AS priority,
       title, message, buttons,
       strftime('%Y-%m-%dT%H:%M:%fZ', asked_ms / 1000.0, 'unixepoch') AS asked_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', expires_ms / 1000.0, 'unixepoch') AS expires_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', snoozed_ms / 1000.0, 'unixepoch') AS snoozed_until,
       snoozes
-- Each half by its index, so that resolved alerts cost nothing.
FROM (SELECT * FROM alerts INDEXED BY alerts_next
          WHERE state = 'queued' AND snoozed_ms IS NULL
      UNION ALL
      SELECT * FROM alerts INDEXED BY alerts_snoozed
          WHERE state = 'queued' AND snoozed_ms IS NOT NULL) AS alerts
JOIN sources ON sources.id = alerts.source_id
ORDER BY alerts.priority DESC, alerts.id;

CREATE VIEW history AS
SELECT alert_id AS id, responses.source, sources.uid AS source_uid, responses.key,
       coalesce(title, '#' || alert_id) AS title, message, outcome, button, button_index,
       resolved_by, responses.uid, user, via, tty, ssh, responses.host, responses.pid,
       strftime('%Y-%m-%dT%H:%M:%fZ', asked_ms / 1000.0, 'unixepoch') AS asked_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', resolved_ms / 1000.0, 'unixepoch') AS resolved_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', collected_ms / 1000.0, 'unixepoch') AS collected_at
FROM responses
JOIN alerts ON alerts.id = responses.alert_id
JOIN sources ON sources.id = alerts.source_id
ORDER BY resolved_ms DESC, seq DESC;
