-- 0006 take turns
--
-- Why:    a flood of one account or source kept the questions of others from the screen, an
--         account could ask without bound under invented names, and a deadline that was given as a
--         moment passed an hour early once the clock had been set back.
-- Shape:  `account` and `turn` tell in whose turn, and in which of its rounds, an alert is shown;
--         `turns` has how far the rounds of an account have come and which entry of the log tells
--         of its last appearance, for each priority; `accounts` counts what waits, as `sources`
--         does. A deadline without a boot time is a moment of the wall clock; so far there is
--         none.
-- Safety: only the rows of waiting alerts are written, found by their indexes. Programs of earlier
--         versions that still have the file open would give no turn, and so they are kept from
--         writing: the guard's function takes the version now.
-- Runs:   once; its version stamp commits in the same transaction.
-- Never edit this file after release; add the next number instead.

ALTER TABLE alerts ADD COLUMN account INTEGER;
ALTER TABLE alerts ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;

-- The alerts of each source are in one round after the other, the oldest first.
UPDATE alerts SET (account, turn) = (waiting.account, waiting.turn)
FROM (SELECT alerts.id AS id, sources.uid AS account,
             row_number() OVER (PARTITION BY source_id, priority ORDER BY alerts.id) AS turn
      FROM (SELECT * FROM alerts INDEXED BY alerts_next
                WHERE state = 'queued' AND snoozed_ms IS NULL
            UNION ALL
            SELECT * FROM alerts INDEXED BY alerts_snoozed
                WHERE state = 'queued' AND snoozed_ms IS NOT NULL) AS alerts
      JOIN sources ON sources.id = source_id) AS waiting
WHERE alerts.id = waiting.id;

-- "What of this account is shown next?", one look for each priority and account.
CREATE INDEX alerts_turn ON alerts (priority, account, turn)
    WHERE state = 'queued' AND snoozed_ms IS NULL;
-- "In which round is the last alert of this source?"
CREATE INDEX alerts_source_turn ON alerts (source_id, priority, turn) WHERE state = 'queued';
-- "Whose moment has passed?"
CREATE INDEX alerts_expiry_moment ON alerts (expires_ms)
    WHERE state = 'queued' AND expires_ms IS NOT NULL AND expires_boot_ms IS NULL;

CREATE TABLE accounts (
    uid     INTEGER PRIMARY KEY,
    pending INTEGER NOT NULL DEFAULT 0 CHECK (pending >= 0)
) STRICT;
INSERT INTO accounts
SELECT uid, sum (min (pending, 4294967295)) FROM sources GROUP BY uid;

CREATE TABLE turns (
    priority INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 3),
    uid      INTEGER NOT NULL,
    turn     INTEGER NOT NULL,
    shown    INTEGER NOT NULL,
    PRIMARY KEY (priority, uid)
) STRICT, WITHOUT ROWID;

DROP TRIGGER audit_needs_this_version;
CREATE TRIGGER audit_needs_this_version BEFORE INSERT ON audit
    WHEN NOT this_queue_needs_a_newer_alertq (6)
BEGIN SELECT RAISE (ABORT, 'this queue needs a newer alertq'); END;
