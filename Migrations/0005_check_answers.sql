-- 0005 check answers
--
-- Why:    answers are checked against the log, so the log has to record more: which answers
--         programs gave, requests to cancel, events reserved for later, and which entry records
--         an erasure.
-- Shape:  more words in two checks, as in 0004; `erased_seq` names the audit entry that tells of
--         an alert's erasure; alerts that were erased before are found by the new index. Programs
--         of earlier versions that still have the file open check nothing, and so they are kept
--         from writing by a function that their connections don't have.
-- Safety: no rewrite; the column is NULL in all rows there are. The index holds one place for each
--         erasure, which is of up to 200 alerts.
-- Runs:   once; its version stamp commits in the same transaction.
-- Never edit this file after release; add the next number instead.

PRAGMA writable_schema = ON;

UPDATE sqlite_schema
SET sql = replace (sql, 'OR event = ''resolved'' OR event = ''collected'' OR event = ''erased''',
    'OR event = ''resolved'' OR event = ''collected'' OR event = ''erased''
                     OR event = ''cancelling'' OR event = ''restored'' OR event = ''ran''
                     OR event = ''access'' OR event = ''reminded'' OR event = ''seen''')
WHERE type = 'table' AND name = 'audit';

UPDATE sqlite_schema
SET sql = replace (sql, 'resolved_by = ''person'' OR',
    'resolved_by = ''person'' OR resolved_by = ''program'' OR')
WHERE type = 'table' AND name = 'responses';

PRAGMA writable_schema = RESET;

-- Which entry of the audit log tells that the texts were erased.
ALTER TABLE alerts ADD COLUMN erased_seq INTEGER;

-- "Which entries tell of erasures?"
CREATE INDEX audit_erased ON audit (seq) WHERE event = 'erased';

CREATE TRIGGER audit_needs_this_version BEFORE INSERT ON audit
    WHEN NOT this_queue_needs_a_newer_alertq ()
BEGIN SELECT RAISE (ABORT, 'this queue needs a newer alertq'); END;
