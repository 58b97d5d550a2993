PRAGMA application_id = 1634497137;
PRAGMA user_version = 3;
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
INSERT INTO alerts VALUES(1,1,26871,'nas','snapshots','alert',1,NULL,NULL,'[{"id":"delete"},{"id":"keep","role":"cancel"}]','{}',NULL,NULL,NULL,NULL,NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314486507,16414412,NULL,NULL,'resolved',NULL,0,NULL,NULL,NULL,0);
INSERT INTO alerts VALUES(2,2,26896,'nas','nginx','alert',1,'Restart nginx?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}','No',NULL,NULL,X'd4ccc6e3d6111fcb36af345ee709c513',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314486593,16414498,1795400886593,102814498,'queued',NULL,0,NULL,NULL,NULL,0);
INSERT INTO alerts VALUES(3,3,26904,'nas',NULL,'alert',1,'Update?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}','No',NULL,NULL,X'd4737243fa1eba0dd9d4059f829cc658',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314486622,16414527,1795314487622,16415527,'resolved',NULL,0,NULL,NULL,NULL,0);
INSERT INTO alerts VALUES(4,3,26905,'nas','reboot','alert',1,'Reboot?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}',NULL,NULL,NULL,X'42ffb5fd33486b316040c90c0728b012',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314486652,16414557,NULL,NULL,'resolved',NULL,0,NULL,NULL,NULL,0);
INSERT INTO alerts VALUES(5,2,26921,'nas',NULL,'alert',1,'Later?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}',NULL,NULL,NULL,X'6f93bdaf3f0b578d8de8efd7fd9acc59',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314486708,16414613,NULL,NULL,'queued',NULL,1,1795318086734,20014639,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',0);
INSERT INTO alerts VALUES(6,2,26931,'nas',NULL,'alert',1,NULL,NULL,'[{},{"role":"cancel"}]','{}',NULL,NULL,NULL,NULL,NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314486774,16414679,NULL,NULL,'resolved',NULL,0,NULL,NULL,NULL,0);
INSERT INTO alerts VALUES(7,2,26941,'nas',NULL,'alert',1,'Stop?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}',NULL,NULL,NULL,X'387b526d4880c72e01ba19b856d404a2',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314486814,16414719,NULL,NULL,'resolved',NULL,0,NULL,NULL,NULL,0);
INSERT INTO alerts VALUES(8,1,26951,'nas',NULL,'alert',1,'Backup done',NULL,'[]','{}',NULL,NULL,NULL,X'feed5bc758a86921ee77409e2433ca96',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314486886,16414791,NULL,NULL,'queued',NULL,0,NULL,NULL,NULL,0);
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
INSERT INTO responses VALUES(1,1,'backup','snapshots',NULL,'answered','keep',1,'person',0,0,'root','answer',NULL,NULL,'nas',26879,1795314486533,1795314486564);
INSERT INTO responses VALUES(2,4,'updates','reboot',NULL,'answered','Yes',0,'person',0,0,'root','answer',NULL,NULL,'nas',26913,1795314486679,NULL);
INSERT INTO responses VALUES(3,6,'deploy',NULL,NULL,'withdrawn',NULL,-1,'asker',0,0,'root','withdraw',NULL,NULL,'nas',26932,1795314486795,NULL);
INSERT INTO responses VALUES(4,7,'deploy',NULL,NULL,'cancelled','No',1,'system',0,0,'root','cancel',NULL,NULL,'nas',26943,1795314486857,NULL);
INSERT INTO responses VALUES(5,3,'updates',NULL,NULL,'expired','No',1,'policy',0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795314489808,NULL);
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
INSERT INTO audit VALUES(1,1795314486507,'asked',1,'backup',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',26871,X'034cbfca9c1d2383edc4c808284dbc652a89654615942a07200340ef3f25143e',NULL,X'0000000000000000000000000000000000000000000000000000000000000000',X'4a7bbc1d570e55bb7d0321b199a6efc74ca0ff1471fbdec4a7b38c1ca513bcce');
INSERT INTO audit VALUES(2,1795314486533,'resolved',1,'backup','answered',1,'cancel','person',0,'root',NULL,NULL,'answer',NULL,NULL,'nas',26879,X'034cbfca9c1d2383edc4c808284dbc652a89654615942a07200340ef3f25143e',NULL,X'4a7bbc1d570e55bb7d0321b199a6efc74ca0ff1471fbdec4a7b38c1ca513bcce',X'6bbc5cd0fa4153cf4368d56f7c00bf99ac8379636cdb7cfe59d459d5d2e567aa');
INSERT INTO audit VALUES(3,1795314486564,'collected',1,'backup',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',26887,NULL,NULL,X'6bbc5cd0fa4153cf4368d56f7c00bf99ac8379636cdb7cfe59d459d5d2e567aa',X'ee3755c52fdd7b4ceff61814f292d9d0796a82e34c5b050f1e78ee5907064c12');
INSERT INTO audit VALUES(4,1795314486593,'asked',2,'deploy',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',26896,X'a6c4b62528c5c15592fe846a987297d560b4f0703953abe578a60af8cb3432f6','expires 2026-11-23T02:28:06.593Z',X'ee3755c52fdd7b4ceff61814f292d9d0796a82e34c5b050f1e78ee5907064c12',X'3f0ee92be11f9a723220da71c1e261e9cdbc4563a4e27a235f3ae081b792de65');
INSERT INTO audit VALUES(5,1795314486622,'asked',3,'updates',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',26904,X'15300922c01a45b6df7196ece77fd62a78c018c22a0cbf648e7e540993c06a70','expires 2026-11-22T02:28:07.622Z',X'3f0ee92be11f9a723220da71c1e261e9cdbc4563a4e27a235f3ae081b792de65',X'650590e833fe304c7082fca3c02633a734b2ee2a48495f8a0bd7d4c7d084c2a7');
INSERT INTO audit VALUES(6,1795314486652,'asked',4,'updates',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',26905,X'27fb0985d36fd71e7035807441db912f220b0c0040191529ce9948c34a3ceb60',NULL,X'650590e833fe304c7082fca3c02633a734b2ee2a48495f8a0bd7d4c7d084c2a7',X'cb6465bbc6fc0078dd83899ea396cb056d6c7a7b0ee931f696508cbd50f8b337');
INSERT INTO audit VALUES(7,1795314486679,'resolved',4,'updates','answered',0,NULL,'person',0,'root',NULL,NULL,'answer',NULL,NULL,'nas',26913,X'27fb0985d36fd71e7035807441db912f220b0c0040191529ce9948c34a3ceb60',NULL,X'cb6465bbc6fc0078dd83899ea396cb056d6c7a7b0ee931f696508cbd50f8b337',X'b0e9d9d25a3f3e0c81586077acc59546bada40d112e77e759633d2f7675475f7');
INSERT INTO audit VALUES(8,1795314486708,'asked',5,'deploy',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',26921,X'1444b1493f14a5b203146385b6ca9170b4abb78d95ed4d5ae1904f87d206af92',NULL,X'b0e9d9d25a3f3e0c81586077acc59546bada40d112e77e759633d2f7675475f7',X'687e99915cfe0ac438a34cc6060c4f4bd1bc694a53d84a1280aacff255c82797');
INSERT INTO audit VALUES(9,1795314486734,'snoozed',5,'deploy',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'snooze',NULL,NULL,'nas',26922,X'1444b1493f14a5b203146385b6ca9170b4abb78d95ed4d5ae1904f87d206af92','until 2026-11-22T03:28:06.734Z',X'687e99915cfe0ac438a34cc6060c4f4bd1bc694a53d84a1280aacff255c82797',X'fc05a3d2f0ae74080db180fe068239963b879a1208b7468d242b7803aa7041a7');
INSERT INTO audit VALUES(10,1795314486774,'asked',6,'deploy',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',26931,X'c4964636d57fcfca339ec2d072eca42d2790e1cdd9457d3c9c06f5d8253f1902',NULL,X'fc05a3d2f0ae74080db180fe068239963b879a1208b7468d242b7803aa7041a7',X'40d08c26287cda09635d7580a5838b5be269809b49761a108b83237f15c2ad94');
INSERT INTO audit VALUES(11,1795314486795,'resolved',6,'deploy','withdrawn',-1,NULL,'asker',0,'root',NULL,NULL,'withdraw',NULL,NULL,'nas',26932,X'c4964636d57fcfca339ec2d072eca42d2790e1cdd9457d3c9c06f5d8253f1902',NULL,X'40d08c26287cda09635d7580a5838b5be269809b49761a108b83237f15c2ad94',X'3d6d5348b7a51c7381f2d781b50c2cca65fe74a11312eaf5963bb30ad1e06525');
INSERT INTO audit VALUES(12,1795314486814,'asked',7,'deploy',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',26941,X'a0e9ec6cac8113262299e69acf63db21a61f9e2d54380d7013b469704a843599',NULL,X'3d6d5348b7a51c7381f2d781b50c2cca65fe74a11312eaf5963bb30ad1e06525',X'd86f7b80cf2bc1629eb0360bd7a4a6b9b2b712d356a1e85029c75007fad42e46');
INSERT INTO audit VALUES(13,1795314486857,'resolved',7,'deploy','cancelled',1,'cancel','system',0,'root',NULL,NULL,'cancel',NULL,NULL,'nas',26943,X'a0e9ec6cac8113262299e69acf63db21a61f9e2d54380d7013b469704a843599',NULL,X'd86f7b80cf2bc1629eb0360bd7a4a6b9b2b712d356a1e85029c75007fad42e46',X'75c3d5b2f2b693cea8964856ab9be3f7f48f2815d67594829ae924404fb1f6e4');
INSERT INTO audit VALUES(14,1795314486886,'asked',8,'backup',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'notify',NULL,NULL,'nas',26951,X'add1df74dd61bc2a26e54a46e241c0fe15f0f852f416044f237e854ab58229f0',NULL,X'75c3d5b2f2b693cea8964856ab9be3f7f48f2815d67594829ae924404fb1f6e4',X'2fa10857f25ad7737f7036fc47eaecef1ee2729c89e296d5f078d5faa8b5d81c');
INSERT INTO audit VALUES(15,1795314488464,'erased',NULL,NULL,NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'purge',NULL,NULL,'nas',26968,NULL,'alerts 1, 6',X'2fa10857f25ad7737f7036fc47eaecef1ee2729c89e296d5f078d5faa8b5d81c',X'ae3ba6d05d0874811ba46a3cab8cf869612c811680e06b2351c20eda526016ed');
INSERT INTO audit VALUES(16,1795314489808,'resolved',3,'updates','expired',1,'cancel','policy',0,'root',NULL,NULL,'deadline',NULL,NULL,'nas',27003,X'15300922c01a45b6df7196ece77fd62a78c018c22a0cbf648e7e540993c06a70',NULL,X'ae3ba6d05d0874811ba46a3cab8cf869612c811680e06b2351c20eda526016ed',X'11f5815c60aec1fef45fc21d341e9841fff4062bec2892fd7be108eeda594325');
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
PRAGMA writable_schema=OFF;
