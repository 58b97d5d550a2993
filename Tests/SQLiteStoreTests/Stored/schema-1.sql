PRAGMA application_id = 1634497137;
PRAGMA user_version = 1;
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
INSERT INTO alerts VALUES(1,1,26473,'nas','snapshots','alert',1,'Delete 40 GB of old snapshots?','tank/old','[{"id":"delete","title":"Delete"},{"id":"keep","role":"cancel","title":"Keep"}]','{}',NULL,NULL,NULL,X'a400508a9ae0173265ab959cb2c8b694',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314479941,16407846,NULL,NULL,'resolved',NULL,0,NULL,NULL,NULL,0);
INSERT INTO alerts VALUES(2,2,26495,'nas','nginx','alert',1,'Restart nginx?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}','No',NULL,NULL,X'749cde7c0f1fe82151078cbe0b2a4239',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314480014,16407919,1795400880014,102807919,'queued',NULL,0,NULL,NULL,NULL,0);
INSERT INTO alerts VALUES(3,3,26502,'nas',NULL,'alert',1,'Update?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}','No',NULL,NULL,X'904bc5fd057d9e201504e8e67f757b26',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314480047,16407952,1795314481047,16408952,'resolved',NULL,0,NULL,NULL,NULL,0);
INSERT INTO alerts VALUES(4,3,26509,'nas','reboot','alert',1,'Reboot?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}',NULL,NULL,NULL,X'5dba27287c6c05c55ec2f3c3b73bb4cb',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314480078,16407983,NULL,NULL,'resolved',NULL,0,NULL,NULL,NULL,0);
INSERT INTO alerts VALUES(5,2,26525,'nas',NULL,'alert',1,'Later?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}',NULL,NULL,NULL,X'603c9d2dcd21eea534dc41ad4ab8c5ba',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314480136,16408041,NULL,NULL,'queued',NULL,1,1795318080150,20008055,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',0);
INSERT INTO alerts VALUES(6,2,26540,'nas',NULL,'alert',1,'Never mind?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}',NULL,NULL,NULL,X'3712d51fd710dd11effead1ff7e86eca',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314480167,16408072,NULL,NULL,'resolved',NULL,0,NULL,NULL,NULL,0);
INSERT INTO alerts VALUES(7,2,26554,'nas',NULL,'alert',1,'Stop?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}',NULL,NULL,NULL,X'c465d0f1eae274931a1bc819de5c4d7d',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314480222,16408127,NULL,NULL,'resolved',NULL,0,NULL,NULL,NULL,0);
INSERT INTO alerts VALUES(8,1,26570,'nas',NULL,'alert',1,'Backup done',NULL,'[]','{}',NULL,NULL,NULL,X'71c23823bdf2e8dc21f3b270ff2a5624',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314480284,16408188,NULL,NULL,'queued',NULL,0,NULL,NULL,NULL,0);
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
INSERT INTO responses VALUES(1,1,'backup','snapshots',NULL,'answered','keep',1,'person',0,0,'root','answer',NULL,NULL,'nas',26480,1795314479966,1795314479990);
INSERT INTO responses VALUES(2,4,'updates','reboot',NULL,'answered','Yes',0,'person',0,0,'root','answer',NULL,NULL,'nas',26517,1795314480103,NULL);
INSERT INTO responses VALUES(3,6,'deploy',NULL,NULL,'withdrawn',NULL,-1,'asker',0,0,'root','withdraw',NULL,NULL,'nas',26548,1795314480186,NULL);
INSERT INTO responses VALUES(4,7,'deploy',NULL,NULL,'cancelled','No',1,'system',0,0,'root','cancel',NULL,NULL,'nas',26563,1795314480256,NULL);
INSERT INTO responses VALUES(5,3,'updates',NULL,NULL,'expired','No',1,'policy',0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795314481573,NULL);
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
INSERT INTO audit VALUES(1,1795314479941,'asked',1,'backup',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',26473,X'21a9fac03fa850fd7ef48d6af2a38280ae11fbfb0e9160e8d37aa4c49e7d4164',NULL,X'0000000000000000000000000000000000000000000000000000000000000000',X'952b6f4d5261ea6ef5b02342c2461d9be083d7fc6376ca106f0f8c428d71a5dd');
INSERT INTO audit VALUES(2,1795314479966,'resolved',1,'backup','answered',1,'cancel','person',0,'root',NULL,NULL,'answer',NULL,NULL,'nas',26480,X'21a9fac03fa850fd7ef48d6af2a38280ae11fbfb0e9160e8d37aa4c49e7d4164',NULL,X'952b6f4d5261ea6ef5b02342c2461d9be083d7fc6376ca106f0f8c428d71a5dd',X'b34cf9767b7921d0ea0df02b125ef52f931ef78e095557848194481ac1293e9d');
INSERT INTO audit VALUES(3,1795314479990,'collected',1,'backup',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',26487,NULL,NULL,X'b34cf9767b7921d0ea0df02b125ef52f931ef78e095557848194481ac1293e9d',X'8d8d186c8ac30cc3c407b42b2ff52df7194729ada6cf88cc91aa90382c7e261f');
INSERT INTO audit VALUES(4,1795314480014,'asked',2,'deploy',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',26495,X'36967885d463eb9beb9685f6addc6a41ce98ffacbd4d3a27596a9cbee010ce00','expires 2026-11-23T02:28:00.014Z',X'8d8d186c8ac30cc3c407b42b2ff52df7194729ada6cf88cc91aa90382c7e261f',X'a4742047cc3036a3171cc707df2d5b539e1a3df5cf46ab71826bd478f70d587e');
INSERT INTO audit VALUES(5,1795314480047,'asked',3,'updates',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',26502,X'd59459e67618d0b823497ba9201ee078891dde88918b46ef7fac88e274764cc8','expires 2026-11-22T02:28:01.047Z',X'a4742047cc3036a3171cc707df2d5b539e1a3df5cf46ab71826bd478f70d587e',X'b41502af7d251301a2c48e8deb5b3fb3f069b00d71d0b52ed0c97abfffff9611');
INSERT INTO audit VALUES(6,1795314480078,'asked',4,'updates',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',26509,X'3a4c44726a2f3f0d929c1aefb7e42f313428e6565685ac2863704f2f72640733',NULL,X'b41502af7d251301a2c48e8deb5b3fb3f069b00d71d0b52ed0c97abfffff9611',X'c68df68a8e53199486949a3adff475146e76cb321829af264267e242db7a9112');
INSERT INTO audit VALUES(7,1795314480103,'resolved',4,'updates','answered',0,NULL,'person',0,'root',NULL,NULL,'answer',NULL,NULL,'nas',26517,X'3a4c44726a2f3f0d929c1aefb7e42f313428e6565685ac2863704f2f72640733',NULL,X'c68df68a8e53199486949a3adff475146e76cb321829af264267e242db7a9112',X'8daacd9588e36b7b8bfcfc1506576980bebd2b793c220208b1f2e8dbb199b3ca');
INSERT INTO audit VALUES(8,1795314480136,'asked',5,'deploy',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',26525,X'96e10c3acc0d61834665ec732c408e35521201a78d81796fc31d2a2d423e1c7d',NULL,X'8daacd9588e36b7b8bfcfc1506576980bebd2b793c220208b1f2e8dbb199b3ca',X'5cb1d8197a3a9d5d5ade21051030f44a635b94edfa0b3c9f54577e0357f6c814');
INSERT INTO audit VALUES(9,1795314480150,'snoozed',5,'deploy',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'snooze',NULL,NULL,'nas',26533,X'96e10c3acc0d61834665ec732c408e35521201a78d81796fc31d2a2d423e1c7d','until 2026-11-22T03:28:00.150Z',X'5cb1d8197a3a9d5d5ade21051030f44a635b94edfa0b3c9f54577e0357f6c814',X'fbe04035b23fcfaec64bb5d9e0d062f90fe83d726c2dab11eecad9b8c5ae7c73');
INSERT INTO audit VALUES(10,1795314480167,'asked',6,'deploy',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',26540,X'e5024c09ceb699961213b5b9084f41d735877b67f6f30967acc072919f21af81',NULL,X'fbe04035b23fcfaec64bb5d9e0d062f90fe83d726c2dab11eecad9b8c5ae7c73',X'e122924d009efadfed085b3534711df721c36232e0a0148411991d29e9e0c5b8');
INSERT INTO audit VALUES(11,1795314480186,'resolved',6,'deploy','withdrawn',-1,NULL,'asker',0,'root',NULL,NULL,'withdraw',NULL,NULL,'nas',26548,X'e5024c09ceb699961213b5b9084f41d735877b67f6f30967acc072919f21af81',NULL,X'e122924d009efadfed085b3534711df721c36232e0a0148411991d29e9e0c5b8',X'07d2e9ea8caf468efb5e8a0b3deaf5472be446845922e1b11653c9f474ff2069');
INSERT INTO audit VALUES(12,1795314480222,'asked',7,'deploy',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',26554,X'758d7c261b2d1a7cd1c7097e891c00b7b62254cf27ca3410aabeb16c9f09119e',NULL,X'07d2e9ea8caf468efb5e8a0b3deaf5472be446845922e1b11653c9f474ff2069',X'c0a06cb81d90e2169cfdb8ff395de635c0d552e60446f362049a633d4762759a');
INSERT INTO audit VALUES(13,1795314480256,'resolved',7,'deploy','cancelled',1,'cancel','system',0,'root',NULL,NULL,'cancel',NULL,NULL,'nas',26563,X'758d7c261b2d1a7cd1c7097e891c00b7b62254cf27ca3410aabeb16c9f09119e',NULL,X'c0a06cb81d90e2169cfdb8ff395de635c0d552e60446f362049a633d4762759a',X'cc625db8386db2caa705069ab0db39b9ab70b95765455e52c432b8016c41fe51');
INSERT INTO audit VALUES(14,1795314480284,'asked',8,'backup',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'notify',NULL,NULL,'nas',26570,X'02dbd0b9d47f2bd05795534a766ae989a3b7ab291f4a21027059d3b22c564c9e',NULL,X'cc625db8386db2caa705069ab0db39b9ab70b95765455e52c432b8016c41fe51',X'1f3c742c905075043ab767b9d18fbae41d6d8e7a8c0a8efbf9c04b054f16f59b');
INSERT INTO audit VALUES(15,1795314481573,'resolved',3,'updates','expired',1,'cancel','policy',0,'root',NULL,NULL,'deadline',NULL,NULL,'nas',26585,X'd59459e67618d0b823497ba9201ee078891dde88918b46ef7fac88e274764cc8',NULL,X'1f3c742c905075043ab767b9d18fbae41d6d8e7a8c0a8efbf9c04b054f16f59b',X'3234bb22873721eee971e09fd005546f3cf8f262dff5d71e58acfa1402f18569');
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
CREATE TRIGGER audit_has_no_gaps BEFORE INSERT ON audit
    WHEN new.seq <> coalesce((SELECT max(seq) FROM audit), 0) + 1
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
