PRAGMA application_id = 1634497137;
PRAGMA user_version = 4;
CREATE TABLE sources (
    id      INTEGER PRIMARY KEY,
    uid     INTEGER NOT NULL,
    name    TEXT    NOT NULL CHECK (name <> ''),
    pending INTEGER NOT NULL DEFAULT 0 CHECK (pending >= 0),
    UNIQUE (uid, name)
) STRICT;
INSERT INTO sources VALUES(1,0,'backup',1);
INSERT INTO sources VALUES(2,0,'deploy',2);
INSERT INTO sources VALUES(3,0,'updates',0);
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
INSERT INTO alerts VALUES(1,1,27104,'nas','snapshots','alert',1,NULL,NULL,'[{"id":"delete"},{"id":"keep","role":"cancel"}]','{}',NULL,NULL,NULL,NULL,NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314491533,16419438,NULL,NULL,'resolved',NULL,0,NULL,NULL,NULL,0);
INSERT INTO alerts VALUES(2,2,27128,'nas','nginx','alert',1,'Restart nginx?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}','No',NULL,NULL,X'192e6a94526508f9a335f5aa4031c89e',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314491634,16419539,1795400891634,102819539,'queued',NULL,0,NULL,NULL,NULL,0);
INSERT INTO alerts VALUES(3,3,27136,'nas',NULL,'alert',1,'Update?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}','No',NULL,NULL,X'241c16336a8eab677d4421fb7189e64b',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314491672,16419577,1795314492672,16420577,'resolved',NULL,0,NULL,NULL,NULL,0);
INSERT INTO alerts VALUES(4,3,27137,'nas','reboot','alert',1,'Reboot?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}',NULL,NULL,NULL,X'0a4589ce431ece78ac5cede62cd10ce7',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314491708,16419613,NULL,NULL,'resolved',NULL,0,NULL,NULL,NULL,0);
INSERT INTO alerts VALUES(5,2,27154,'nas',NULL,'alert',1,'Later?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}',NULL,NULL,NULL,X'a3590dd4a3a2cd5ed04e6e747e5f82ce',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314491786,16419691,NULL,NULL,'queued',NULL,1,1795318091803,20019708,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',0);
INSERT INTO alerts VALUES(6,2,27163,'nas',NULL,'alert',1,NULL,NULL,'[{},{"role":"cancel"}]','{}',NULL,NULL,NULL,NULL,NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314491830,16419735,NULL,NULL,'resolved',NULL,0,NULL,NULL,NULL,0);
INSERT INTO alerts VALUES(7,2,27173,'nas',NULL,'alert',1,'Stop?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}',NULL,NULL,NULL,X'8d9e5975d89739e37e43dd368bdfca36',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314491891,16419796,NULL,NULL,'resolved',NULL,0,NULL,NULL,NULL,0);
INSERT INTO alerts VALUES(8,1,27182,'nas',NULL,'alert',1,'Backup done',NULL,'[]','{}',NULL,NULL,NULL,X'36888b6e3fa19a43940145ea8dfac775',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314491966,16419871,NULL,NULL,'queued',NULL,0,NULL,NULL,NULL,0);
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
    resolved_by  TEXT    NOT NULL CHECK (resolved_by = 'person' OR resolved_by = 'policy' OR resolved_by = 'asker'
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
INSERT INTO responses VALUES(1,1,'backup','snapshots',NULL,'answered','keep',1,'person',0,0,'root','answer',NULL,NULL,'nas',27112,1795314491568,1795314491609);
INSERT INTO responses VALUES(2,4,'updates','reboot',NULL,'answered','Yes',0,'person',0,0,'root','answer',NULL,NULL,'nas',27145,1795314491736,NULL);
INSERT INTO responses VALUES(3,6,'deploy',NULL,NULL,'withdrawn',NULL,-1,'asker',0,0,'root','withdraw',NULL,NULL,'nas',27164,1795314491859,NULL);
INSERT INTO responses VALUES(4,7,'deploy',NULL,NULL,'cancelled','No',1,'system',0,0,'root','cancel',NULL,NULL,'nas',27174,1795314491941,NULL);
INSERT INTO responses VALUES(5,3,'updates',NULL,NULL,'expired','No',1,'policy',0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795314494851,NULL);
CREATE TABLE audit (
    seq          INTEGER PRIMARY KEY,
    at_ms        INTEGER NOT NULL,
    event        TEXT    NOT NULL CHECK (event = 'asked' OR event = 'presented' OR event = 'returned' OR event = 'snoozed'
                     OR event = 'resolved' OR event = 'collected' OR event = 'erased'),
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
INSERT INTO audit VALUES(1,1795314491533,'asked',1,'backup',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',27104,X'da1b18792a5851cca81d2aeae190f0bf6c24ba76f7d0cc661261d15fac24fb3f',NULL,X'0000000000000000000000000000000000000000000000000000000000000000',X'ca2b694a2ef205eeed2b56b59eb1767a7621ad413a463f51b2af03adf4fc7866');
INSERT INTO audit VALUES(2,1795314491568,'resolved',1,'backup','answered',1,'cancel','person',0,'root',NULL,NULL,'answer',NULL,NULL,'nas',27112,X'da1b18792a5851cca81d2aeae190f0bf6c24ba76f7d0cc661261d15fac24fb3f',NULL,X'ca2b694a2ef205eeed2b56b59eb1767a7621ad413a463f51b2af03adf4fc7866',X'4c720043f52ef1ce9f783479c9fb511a1e2fefb0b4fa75898b649e62e7af0603');
INSERT INTO audit VALUES(3,1795314491609,'collected',1,'backup',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',27120,NULL,NULL,X'4c720043f52ef1ce9f783479c9fb511a1e2fefb0b4fa75898b649e62e7af0603',X'a8e4484ad635db684dd2f0e145e16a9ef82120b7e5ec417e0454c5ee5f3d9ab8');
INSERT INTO audit VALUES(4,1795314491634,'asked',2,'deploy',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',27128,X'f277fcd3cb9f3f5e69047a8ea296f3757d313109c6d3051648280451346af654','expires 2026-11-23T02:28:11.634Z',X'a8e4484ad635db684dd2f0e145e16a9ef82120b7e5ec417e0454c5ee5f3d9ab8',X'fa39b94d3f651a9e56f479471e631a79e25d0d472e3fbbae1efe4dece7911f32');
INSERT INTO audit VALUES(5,1795314491672,'asked',3,'updates',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',27136,X'a7d338f1698d174e4116c7557ab3b3280730a08920145c00b6069eef9b0e1f3a','expires 2026-11-22T02:28:12.672Z',X'fa39b94d3f651a9e56f479471e631a79e25d0d472e3fbbae1efe4dece7911f32',X'ad72f4d3e71edaa2c105739a5dbbb77b50f48770dd3073074e74e571afbe864f');
INSERT INTO audit VALUES(6,1795314491708,'asked',4,'updates',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',27137,X'5006f409119a99774db5aa6f457b1328a0340819cde7092beeff0b34ae333425',NULL,X'ad72f4d3e71edaa2c105739a5dbbb77b50f48770dd3073074e74e571afbe864f',X'50aeecdad5f44ee161c97383da2453f7e44214ace03e3bdf3727ec5292eeaedf');
INSERT INTO audit VALUES(7,1795314491736,'resolved',4,'updates','answered',0,NULL,'person',0,'root',NULL,NULL,'answer',NULL,NULL,'nas',27145,X'5006f409119a99774db5aa6f457b1328a0340819cde7092beeff0b34ae333425',NULL,X'50aeecdad5f44ee161c97383da2453f7e44214ace03e3bdf3727ec5292eeaedf',X'db89dc9cefb72f0f1b922b1ec26ee65a79bcf0e73bed7029acf7a3bad98f1efd');
INSERT INTO audit VALUES(8,1795314491786,'asked',5,'deploy',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',27154,X'8b20eea3ae1b55d74a180e511b07c53bd64bb7e7e7b5802954ede26b8507a807',NULL,X'db89dc9cefb72f0f1b922b1ec26ee65a79bcf0e73bed7029acf7a3bad98f1efd',X'30ef2f9aaf93bcfd57aa64d2aa81e06174ca73f364c4ae6d09312b3ef918ca7f');
INSERT INTO audit VALUES(9,1795314491803,'snoozed',5,'deploy',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'snooze',NULL,NULL,'nas',27155,X'8b20eea3ae1b55d74a180e511b07c53bd64bb7e7e7b5802954ede26b8507a807','until 2026-11-22T03:28:11.803Z',X'30ef2f9aaf93bcfd57aa64d2aa81e06174ca73f364c4ae6d09312b3ef918ca7f',X'64f5d217abaa8c48089975ffbc7de3043e015b19e059e5665b4913ff73744ea5');
INSERT INTO audit VALUES(10,1795314491830,'asked',6,'deploy',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',27163,X'335550f612d1de3c701b75593242cd316adbda263bc531e57dad06fff7b989fe',NULL,X'64f5d217abaa8c48089975ffbc7de3043e015b19e059e5665b4913ff73744ea5',X'b7d6d764ac56ec370f9c265264006eb6dac067ca9490764da80a661c8ffffe6b');
INSERT INTO audit VALUES(11,1795314491859,'resolved',6,'deploy','withdrawn',-1,NULL,'asker',0,'root',NULL,NULL,'withdraw',NULL,NULL,'nas',27164,X'335550f612d1de3c701b75593242cd316adbda263bc531e57dad06fff7b989fe',NULL,X'b7d6d764ac56ec370f9c265264006eb6dac067ca9490764da80a661c8ffffe6b',X'24e075e6f7c192fa7e27a923df79a5c1c6da7a939693eaa5fd6e4dc5cc0d9b61');
INSERT INTO audit VALUES(12,1795314491891,'asked',7,'deploy',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',27173,X'ae4b564a587c62c6bf77c51df494fbd98415f63fdb0d0a266edff783eb454cc1',NULL,X'24e075e6f7c192fa7e27a923df79a5c1c6da7a939693eaa5fd6e4dc5cc0d9b61',X'f824da07bc244874622088786ab12fbaeb5e754a9d66762b41aac4683f1e46cf');
INSERT INTO audit VALUES(13,1795314491941,'resolved',7,'deploy','cancelled',1,'cancel','system',0,'root',NULL,NULL,'cancel',NULL,NULL,'nas',27174,X'ae4b564a587c62c6bf77c51df494fbd98415f63fdb0d0a266edff783eb454cc1',NULL,X'f824da07bc244874622088786ab12fbaeb5e754a9d66762b41aac4683f1e46cf',X'463f580d88b9cf2331a93b504c586b1566aac03c72778bcbcf765aa18aa9eb6a');
INSERT INTO audit VALUES(14,1795314491966,'asked',8,'backup',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'notify',NULL,NULL,'nas',27182,X'ed14e8366453e5b9b7a8fea4832aa238ffcd4312393e22f3fc18359fcd78b45c',NULL,X'463f580d88b9cf2331a93b504c586b1566aac03c72778bcbcf765aa18aa9eb6a',X'38245098f58d9627184c354f760f2612ea335df382d98cf23bafe7a47355c423');
INSERT INTO audit VALUES(15,1795314493533,'erased',NULL,NULL,NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'purge',NULL,NULL,'nas',27195,NULL,'alerts 1, 6',X'38245098f58d9627184c354f760f2612ea335df382d98cf23bafe7a47355c423',X'47efe5badfbb29507fa4e086448ba96700e9b328d801631e72e78ebd10896a4e');
INSERT INTO audit VALUES(16,1795314494851,'resolved',3,'updates','expired',1,'cancel','policy',0,'root',NULL,NULL,'deadline',NULL,NULL,'nas',27228,X'a7d338f1698d174e4116c7557ab3b3280730a08920145c00b6069eef9b0e1f3a',NULL,X'47efe5badfbb29507fa4e086448ba96700e9b328d801631e72e78ebd10896a4e',X'e6f604f066bc527ca44ce21ebe9b925e86e4508df406a54d6620f1ab6f56281c');
PRAGMA writable_schema=ON;
INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql)VALUES('table','text_index','text_index',0,'CREATE VIRTUAL TABLE text_index USING fts5 (
    title, message, buttons, info,
    content = '''', columnsize = 0, tokenize = "unicode61 remove_diacritics 2"
)');
CREATE TABLE IF NOT EXISTS 'text_index_data'(id INTEGER PRIMARY KEY, block BLOB);
INSERT INTO text_index_data VALUES(1,X'');
INSERT INTO text_index_data VALUES(10,X'00000000000000');
CREATE TABLE IF NOT EXISTS 'text_index_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS 'text_index_config'(k PRIMARY KEY, v) WITHOUT ROWID;
INSERT INTO text_index_config VALUES('version',4);
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
INSERT INTO upkeep VALUES(1,0,NULL,0,1,1,1);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('alerts',8);
INSERT INTO sqlite_sequence VALUES('responses',5);
CREATE UNIQUE INDEX alerts_key ON alerts (source_id, key) WHERE key IS NOT NULL;
CREATE INDEX alerts_next ON alerts (priority, id)
    WHERE state = 'queued' AND snoozed_ms IS NULL;
CREATE INDEX alerts_snoozed ON alerts (snoozed_ms)
    WHERE state = 'queued' AND snoozed_ms IS NOT NULL;
CREATE INDEX alerts_snoozed_boot ON alerts (snoozed_boot, snoozed_boot_ms)
    WHERE state = 'queued' AND snoozed_ms IS NOT NULL;
CREATE INDEX alerts_expiry ON alerts (expires_ms)
    WHERE state = 'queued' AND expires_ms IS NOT NULL;
CREATE INDEX alerts_expiry_boot ON alerts (boot, expires_boot_ms)
    WHERE state = 'queued' AND expires_ms IS NOT NULL;
CREATE INDEX responses_time ON responses (resolved_ms);
CREATE INDEX responses_key ON responses (key, resolved_ms) WHERE key IS NOT NULL;
CREATE INDEX responses_handler ON responses (handler, seq)
    WHERE handler IS NOT NULL AND collected_ms IS NULL;
CREATE TRIGGER responses_are_final BEFORE UPDATE OF
    seq, alert_id, source, key, handler, outcome, button_index, resolved_by, handled,
    uid, user, via, tty, ssh, host, pid, resolved_ms ON responses
BEGIN SELECT RAISE (ABORT, 'a response is final'); END;
CREATE TRIGGER responses_are_collected_once BEFORE UPDATE OF collected_ms ON responses
    WHEN old.collected_ms IS NOT NULL
BEGIN SELECT RAISE (ABORT, 'a response is collected once'); END;
CREATE TRIGGER responses_come_once BEFORE INSERT ON responses
    WHEN EXISTS (SELECT 1 FROM responses WHERE alert_id = new.alert_id OR seq = new.seq)
BEGIN SELECT RAISE (ABORT, 'a response is final'); END;
CREATE TRIGGER responses_stay BEFORE DELETE ON responses
BEGIN SELECT RAISE (ABORT, 'a response is kept for ever'); END;
CREATE INDEX audit_alert ON audit (alert_id) WHERE alert_id IS NOT NULL;
CREATE TRIGGER audit_is_append_only_update BEFORE UPDATE ON audit
BEGIN SELECT RAISE (ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_is_append_only_delete BEFORE DELETE ON audit
BEGIN SELECT RAISE (ABORT, 'the audit log is append-only'); END;
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
CREATE INDEX responses_kind ON responses (outcome, resolved_by, resolved_ms);
CREATE INDEX responses_source_kind ON responses (source, outcome, resolved_by, resolved_ms);
CREATE INDEX responses_button_kind ON responses (button, outcome, resolved_by, resolved_ms)
    WHERE button IS NOT NULL;
CREATE INDEX responses_source_button_kind
    ON responses (source, button, outcome, resolved_by, resolved_ms) WHERE button IS NOT NULL;
CREATE INDEX responses_uncollected_kind ON responses (outcome, resolved_by, resolved_ms)
    WHERE collected_ms IS NULL;
CREATE INDEX responses_uncollected_source_kind
    ON responses (source, outcome, resolved_by, resolved_ms) WHERE collected_ms IS NULL;
CREATE INDEX responses_uncollected_button_kind
    ON responses (button, outcome, resolved_by, resolved_ms)
    WHERE button IS NOT NULL AND collected_ms IS NULL;
CREATE TRIGGER audit_has_no_gaps BEFORE INSERT ON audit
    WHEN new.seq <> coalesce((SELECT max(seq) FROM audit), 0) + 1
BEGIN SELECT RAISE (ABORT, 'the audit log is append-only'); END;
PRAGMA writable_schema=OFF;
