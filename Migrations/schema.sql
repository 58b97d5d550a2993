-- The schema that the migrations make together.
--
-- A file that has another one is not used. A section names each object: its type, its
-- name, and the table that it belongs to; the statement is left out where SQLite makes the
-- object by itself. This file is not run. A test writes it anew:
-- ALERTQ_WRITE_SCHEMA=1 swift test --filter SchemaFileTests

--- table sources of sources
CREATE TABLE sources (
    id      INTEGER PRIMARY KEY,
    uid     INTEGER NOT NULL,
    name    TEXT    NOT NULL CHECK (name <> ''),
    pending INTEGER NOT NULL DEFAULT 0 CHECK (pending >= 0),
    UNIQUE (uid, name)
) STRICT;

--- index sqlite_autoindex_sources_1 of sources

--- table alerts of alerts
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
, erased_seq INTEGER, account INTEGER, turn INTEGER NOT NULL DEFAULT 0) STRICT;

--- table sqlite_sequence of sqlite_sequence

--- index alerts_key of alerts
CREATE UNIQUE INDEX alerts_key ON alerts (source_id, key) WHERE key IS NOT NULL;

--- index alerts_next of alerts
CREATE INDEX alerts_next ON alerts (priority, id)
    WHERE state = 'queued' AND snoozed_ms IS NULL;

--- index alerts_snoozed of alerts
CREATE INDEX alerts_snoozed ON alerts (snoozed_ms)
    WHERE state = 'queued' AND snoozed_ms IS NOT NULL;

--- index alerts_snoozed_boot of alerts
CREATE INDEX alerts_snoozed_boot ON alerts (snoozed_boot, snoozed_boot_ms)
    WHERE state = 'queued' AND snoozed_ms IS NOT NULL;

--- index alerts_expiry of alerts
CREATE INDEX alerts_expiry ON alerts (expires_ms)
    WHERE state = 'queued' AND expires_ms IS NOT NULL;

--- index alerts_expiry_boot of alerts
CREATE INDEX alerts_expiry_boot ON alerts (boot, expires_boot_ms)
    WHERE state = 'queued' AND expires_ms IS NOT NULL;

--- table responses of responses
CREATE TABLE responses (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    alert_id     INTEGER NOT NULL UNIQUE REFERENCES alerts (id),
    source       TEXT    NOT NULL,
    key          TEXT,
    handler      TEXT,
    outcome      TEXT    NOT NULL CHECK (outcome = 'answered' OR outcome = 'cancelled' OR outcome = 'dismissed'
                     OR outcome = 'expired' OR outcome = 'withdrawn'),
    button       TEXT,
    button_index INTEGER NOT NULL CHECK (button_index >= -1),
    resolved_by  TEXT    NOT NULL CHECK (resolved_by = 'person' OR resolved_by = 'program' OR resolved_by = 'policy' OR resolved_by = 'asker'
                     OR resolved_by = 'system'),
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

--- index sqlite_autoindex_responses_1 of responses

--- index responses_time of responses
CREATE INDEX responses_time ON responses (resolved_ms);

--- index responses_key of responses
CREATE INDEX responses_key ON responses (key, resolved_ms) WHERE key IS NOT NULL;

--- index responses_handler of responses
CREATE INDEX responses_handler ON responses (handler, seq)
    WHERE handler IS NOT NULL AND collected_ms IS NULL;

--- trigger responses_are_final of responses
CREATE TRIGGER responses_are_final BEFORE UPDATE OF
    seq, alert_id, source, key, handler, outcome, button_index, resolved_by, handled,
    uid, user, via, tty, ssh, host, pid, resolved_ms ON responses
BEGIN SELECT RAISE (ABORT, 'a response is final'); END;

--- trigger responses_are_collected_once of responses
CREATE TRIGGER responses_are_collected_once BEFORE UPDATE OF collected_ms ON responses
    WHEN old.collected_ms IS NOT NULL
BEGIN SELECT RAISE (ABORT, 'a response is collected once'); END;

--- trigger responses_come_once of responses
CREATE TRIGGER responses_come_once BEFORE INSERT ON responses
    WHEN EXISTS (SELECT 1 FROM responses WHERE alert_id = new.alert_id OR seq = new.seq)
BEGIN SELECT RAISE (ABORT, 'a response is final'); END;

--- trigger responses_stay of responses
CREATE TRIGGER responses_stay BEFORE DELETE ON responses
BEGIN SELECT RAISE (ABORT, 'a response is kept for ever'); END;

--- table audit of audit
CREATE TABLE audit (
    seq          INTEGER PRIMARY KEY,
    at_ms        INTEGER NOT NULL,
    event        TEXT    NOT NULL CHECK (event = 'asked' OR event = 'presented' OR event = 'returned' OR event = 'snoozed'
                     OR event = 'resolved' OR event = 'collected' OR event = 'erased'
                     OR event = 'cancelling' OR event = 'restored' OR event = 'ran'
                     OR event = 'access' OR event = 'reminded' OR event = 'seen'),
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

--- index audit_alert of audit
CREATE INDEX audit_alert ON audit (alert_id) WHERE alert_id IS NOT NULL;

--- trigger audit_is_append_only_update of audit
CREATE TRIGGER audit_is_append_only_update BEFORE UPDATE ON audit
BEGIN SELECT RAISE (ABORT, 'the audit log is append-only'); END;

--- trigger audit_is_append_only_delete of audit
CREATE TRIGGER audit_is_append_only_delete BEFORE DELETE ON audit
BEGIN SELECT RAISE (ABORT, 'the audit log is append-only'); END;

--- view pending of pending
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

--- view history of history
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

--- index responses_kind of responses
CREATE INDEX responses_kind ON responses (outcome, resolved_by, resolved_ms);

--- index responses_source_kind of responses
CREATE INDEX responses_source_kind ON responses (source, outcome, resolved_by, resolved_ms);

--- index responses_button_kind of responses
CREATE INDEX responses_button_kind ON responses (button, outcome, resolved_by, resolved_ms)
    WHERE button IS NOT NULL;

--- index responses_source_button_kind of responses
CREATE INDEX responses_source_button_kind
    ON responses (source, button, outcome, resolved_by, resolved_ms) WHERE button IS NOT NULL;

--- index responses_uncollected_kind of responses
CREATE INDEX responses_uncollected_kind ON responses (outcome, resolved_by, resolved_ms)
    WHERE collected_ms IS NULL;

--- index responses_uncollected_source_kind of responses
CREATE INDEX responses_uncollected_source_kind
    ON responses (source, outcome, resolved_by, resolved_ms) WHERE collected_ms IS NULL;

--- index responses_uncollected_button_kind of responses
CREATE INDEX responses_uncollected_button_kind
    ON responses (button, outcome, resolved_by, resolved_ms)
    WHERE button IS NOT NULL AND collected_ms IS NULL;

--- table text_index of text_index
CREATE VIRTUAL TABLE text_index USING fts5 (
    title, message, buttons, info,
    content = '', columnsize = 0, tokenize = "unicode61 remove_diacritics 2"
);

--- table text_index_data of text_index_data

--- table text_index_idx of text_index_idx

--- table text_index_config of text_index_config

--- table upkeep of upkeep
CREATE TABLE upkeep (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    -- The index has all responses up to this one, but for those whose texts are erased.
    indexed_seq INTEGER NOT NULL DEFAULT 0 CHECK (indexed_seq >= 0),
    -- The newest time among them, and the farthest that one of them lies before an earlier one,
    -- because somebody set the clock: within this, the order of `seq` is the order of time.
    newest_ms   INTEGER,
    disorder_ms INTEGER NOT NULL DEFAULT 0 CHECK (disorder_ms >= 0),
    -- How often texts were erased, and up to which of these times they are known to be gone from
    -- the index's old pieces, the log and the unused places of the file.
    erasures      INTEGER NOT NULL DEFAULT 0,
    erasures_done INTEGER NOT NULL DEFAULT 0 CHECK (erasures_done <= erasures),
    -- Grows whenever unused places are overwritten, so that all programs read the file again.
    clearings     INTEGER NOT NULL DEFAULT 0
) STRICT;

--- trigger audit_has_no_gaps of audit
CREATE TRIGGER audit_has_no_gaps BEFORE INSERT ON audit
    WHEN new.seq <> coalesce((SELECT max(seq) FROM audit), 0) + 1
BEGIN SELECT RAISE (ABORT, 'the audit log is append-only'); END;

--- index audit_erased of audit
CREATE INDEX audit_erased ON audit (seq) WHERE event = 'erased';

--- index alerts_turn of alerts
CREATE INDEX alerts_turn ON alerts (priority, account, turn)
    WHERE state = 'queued' AND snoozed_ms IS NULL;

--- index alerts_source_turn of alerts
CREATE INDEX alerts_source_turn ON alerts (source_id, priority, turn) WHERE state = 'queued';

--- index alerts_expiry_moment of alerts
CREATE INDEX alerts_expiry_moment ON alerts (expires_ms)
    WHERE state = 'queued' AND expires_ms IS NOT NULL AND expires_boot_ms IS NULL;

--- table accounts of accounts
CREATE TABLE accounts (
    uid     INTEGER PRIMARY KEY,
    pending INTEGER NOT NULL DEFAULT 0 CHECK (pending >= 0)
) STRICT;

--- table turns of turns
CREATE TABLE turns (
    priority INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 3),
    uid      INTEGER NOT NULL,
    turn     INTEGER NOT NULL,
    shown    INTEGER NOT NULL,
    PRIMARY KEY (priority, uid)
) STRICT, WITHOUT ROWID;

--- trigger audit_needs_this_version of audit
CREATE TRIGGER audit_needs_this_version BEFORE INSERT ON audit
    WHEN NOT this_queue_needs_a_newer_alertq (6)
BEGIN SELECT RAISE (ABORT, 'this queue needs a newer alertq'); END;
