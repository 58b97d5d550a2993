PRAGMA application_id = 1634497137;
PRAGMA user_version = 5;
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
, erased_seq INTEGER) STRICT;
INSERT INTO alerts VALUES(1,1,31469,'nas','snapshots','alert',1,NULL,NULL,'[{"id":"delete"},{"id":"keep","role":"cancel"}]','{}',NULL,NULL,NULL,NULL,NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795351801597,53729502,NULL,NULL,'resolved',NULL,0,NULL,NULL,NULL,0,15);
INSERT INTO alerts VALUES(2,2,31493,'nas','nginx','alert',1,'Restart nginx?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}','No',NULL,NULL,X'f69eb4a5002cdff4ac03b294d9ce347d',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795351801701,53729606,1795438201701,140129606,'queued',NULL,0,NULL,NULL,NULL,0,NULL);
INSERT INTO alerts VALUES(3,3,31501,'nas',NULL,'alert',1,'Update?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}','No',NULL,NULL,X'1108b02a9a799453069faa6e5a278438',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795351801735,53729640,1795351803735,53731640,'resolved',NULL,0,NULL,NULL,NULL,0,NULL);
INSERT INTO alerts VALUES(4,3,31502,'nas','reboot','alert',1,'Reboot?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}',NULL,NULL,NULL,X'acf2098315fb7b77d9d1f91f02c029c3',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795351801765,53729670,NULL,NULL,'resolved',NULL,0,NULL,NULL,NULL,0,NULL);
INSERT INTO alerts VALUES(5,2,31518,'nas',NULL,'alert',1,'Later?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}',NULL,NULL,NULL,X'0651d44e52a11d8a5f1a5468829de540',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795351801834,53729739,NULL,NULL,'queued',NULL,1,1795355401859,57329764,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',0,NULL);
INSERT INTO alerts VALUES(6,2,31527,'nas',NULL,'alert',1,NULL,NULL,'[{},{"role":"cancel"}]','{}',NULL,NULL,NULL,NULL,NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795351801890,53729795,NULL,NULL,'resolved',NULL,0,NULL,NULL,NULL,0,15);
INSERT INTO alerts VALUES(7,2,31536,'nas',NULL,'alert',1,'Stop?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}',NULL,NULL,NULL,X'6df3b00195dd502d07c94972659a1f27',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795351801938,53729843,NULL,NULL,'resolved',NULL,0,NULL,NULL,NULL,0,NULL);
INSERT INTO alerts VALUES(8,1,31545,'nas',NULL,'alert',1,'Backup done',NULL,'[]','{}',NULL,NULL,NULL,X'2827163cbb76b38b9d745f0aa7523330',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795351802004,53729909,NULL,NULL,'queued',NULL,0,NULL,NULL,NULL,0,NULL);
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
INSERT INTO responses VALUES(1,1,'backup','snapshots',NULL,'answered','keep',1,'program',0,0,'root','answer',NULL,NULL,'nas',31477,1795351801633,1795351801669);
INSERT INTO responses VALUES(2,4,'updates','reboot',NULL,'answered','Yes',0,'program',0,0,'root','answer',NULL,NULL,'nas',31510,1795351801797,NULL);
INSERT INTO responses VALUES(3,6,'deploy',NULL,NULL,'withdrawn',NULL,-1,'asker',0,0,'root','withdraw',NULL,NULL,'nas',31528,1795351801913,NULL);
INSERT INTO responses VALUES(4,7,'deploy',NULL,NULL,'cancelled','No',1,'system',0,0,'root','cancel',NULL,NULL,'nas',31537,1795351801977,NULL);
INSERT INTO responses VALUES(5,3,'updates',NULL,NULL,'expired','No',1,'policy',0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795351805193,NULL);
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
INSERT INTO audit VALUES(1,1795351801597,'asked',1,'backup',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',31469,X'327a78bcde7e8c011a78f16e2a9e5cd92d2262cc105eac2a3e3b8ec4d8deb87a','leaves 38ffde1d67026e4c673c65944bf066537caff91d6020038c97bbddde160954ad; key 8f9b94cc671bd21ed00d3db5fcab6de1 637e9d308acbd2e2bc0d7a79ab97683d77a9af6eabc59a0b6d6219b2ba017af5; asked at 53729502 ms in boot 10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',X'0000000000000000000000000000000000000000000000000000000000000000',X'26a287255c2ce5a601902ee9238508cfbb9b2cd18a8885453dd7b48464c1ddbc');
INSERT INTO audit VALUES(2,1795351801633,'resolved',1,'backup','answered',1,'cancel','program',0,'root',NULL,NULL,'answer',NULL,NULL,'nas',31477,X'327a78bcde7e8c011a78f16e2a9e5cd92d2262cc105eac2a3e3b8ec4d8deb87a',NULL,X'26a287255c2ce5a601902ee9238508cfbb9b2cd18a8885453dd7b48464c1ddbc',X'ae51b6e7f38a995455053e94ce58e419a8ca700ef21c4654b8bed426b28ce978');
INSERT INTO audit VALUES(3,1795351801669,'collected',1,'backup',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',31485,NULL,NULL,X'ae51b6e7f38a995455053e94ce58e419a8ca700ef21c4654b8bed426b28ce978',X'5f552d6411a238c260273d2e76855e87503a656d2f7be5b1ecf9eeaa7f721d75');
INSERT INTO audit VALUES(4,1795351801701,'asked',2,'deploy',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',31493,X'85e8c5e92e37532619b5e7a6c519b2b8ace5937aaba3074da13ffc9360cf0d56','expires 2026-11-23T12:50:01.701Z, boot clock 140129606 ms; leaves b7cb11674224cf9d2eb39f8c4afc74a9153df083241973ed91cd6a77312e744c; key 15190f7ca51365207a960cfa01b5cb13 f25173bfbc9736fa6e1653582886b567ea6225bc2a6ff1fb270c6d0b502aef08; asked at 53729606 ms in boot 10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',X'5f552d6411a238c260273d2e76855e87503a656d2f7be5b1ecf9eeaa7f721d75',X'1e991b87dc403c1dd81463863f29004e01f0bb597d926fe2eb0d4ca81746ab31');
INSERT INTO audit VALUES(5,1795351801735,'asked',3,'updates',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',31501,X'e53d85b2cefd440c25743a2dc9083fc7ea1b8e60eb908ce358ff60c4f10f8245','expires 2026-11-22T12:50:03.735Z, boot clock 53731640 ms; leaves 6569ef786b730773f4e05108272146306d9d44996877accefb706c8c4eabe806; asked at 53729640 ms in boot 10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',X'1e991b87dc403c1dd81463863f29004e01f0bb597d926fe2eb0d4ca81746ab31',X'55c76d48a6d234ba6e31dc2fa57f6d3f0e29d7efc66c39ae9f214fd2655c7f8f');
INSERT INTO audit VALUES(6,1795351801765,'asked',4,'updates',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',31502,X'92947999aaf9d886c4625e3beb3fa0f7a0a372a81f64c4d9d6aeca582c21cea1','leaves c665dd93406b29413a5fe90bf202b6a66688e77a8839fd94cd125654633bc3e8; key 1c2bd9a8f4d951cd2db30b230b499136 229b17d19e52607ed9ba8caabc8ddf47cdaced48f6a8ea86de5bdafbd4ef6f87; asked at 53729670 ms in boot 10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',X'55c76d48a6d234ba6e31dc2fa57f6d3f0e29d7efc66c39ae9f214fd2655c7f8f',X'c85f8d5bdd662667cee833185938ad7726a81895c1c21dabc7f60d6adb4edcbe');
INSERT INTO audit VALUES(7,1795351801797,'resolved',4,'updates','answered',0,NULL,'program',0,'root',NULL,NULL,'answer',NULL,NULL,'nas',31510,X'92947999aaf9d886c4625e3beb3fa0f7a0a372a81f64c4d9d6aeca582c21cea1',NULL,X'c85f8d5bdd662667cee833185938ad7726a81895c1c21dabc7f60d6adb4edcbe',X'9996ae672d0d55a252b54f49d03bb2f30dc4dca3ea2adfe47d0d65e28de1cebf');
INSERT INTO audit VALUES(8,1795351801834,'asked',5,'deploy',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',31518,X'31712a438be352e6e8bd5cac6514d9468fceaf986009f2edd1ea22cf965401d0','leaves 6569ef786b730773f4e05108272146306d9d44996877accefb706c8c4eabe806; asked at 53729739 ms in boot 10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',X'9996ae672d0d55a252b54f49d03bb2f30dc4dca3ea2adfe47d0d65e28de1cebf',X'92ee92ccdde669bd5ab7fc73d94d1ffa36886f527be12f334d957b28b217a20c');
INSERT INTO audit VALUES(9,1795351801859,'snoozed',5,'deploy',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'snooze',NULL,NULL,'nas',31519,X'31712a438be352e6e8bd5cac6514d9468fceaf986009f2edd1ea22cf965401d0','until 2026-11-22T13:50:01.859Z, boot clock 57329764 ms in boot 10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',X'92ee92ccdde669bd5ab7fc73d94d1ffa36886f527be12f334d957b28b217a20c',X'1ed08eae54ca69657160aa7de07789a1499652f28ce905d90d48408f51ccad5d');
INSERT INTO audit VALUES(10,1795351801890,'asked',6,'deploy',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',31527,X'4244f6856fa1570bf381500182ab1043e990e8d69bd2e943c9d3b2d04a601d85','leaves 6569ef786b730773f4e05108272146306d9d44996877accefb706c8c4eabe806; asked at 53729795 ms in boot 10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',X'1ed08eae54ca69657160aa7de07789a1499652f28ce905d90d48408f51ccad5d',X'e8a9c95ea5699294f49d3545abaf9d8ff4f28011e282c7519f46e5f53c2d7ef4');
INSERT INTO audit VALUES(11,1795351801913,'resolved',6,'deploy','withdrawn',-1,NULL,'asker',0,'root',NULL,NULL,'withdraw',NULL,NULL,'nas',31528,X'4244f6856fa1570bf381500182ab1043e990e8d69bd2e943c9d3b2d04a601d85',NULL,X'e8a9c95ea5699294f49d3545abaf9d8ff4f28011e282c7519f46e5f53c2d7ef4',X'5afd3071d8931d80efc099ee4e8e8533e530a71c77f663577217e1945792b14b');
INSERT INTO audit VALUES(12,1795351801938,'asked',7,'deploy',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',31536,X'52a852d99485eb0eaedcca1a3038ac7b0ed0734c9ab3909c3dcf5328337a8946','leaves 6569ef786b730773f4e05108272146306d9d44996877accefb706c8c4eabe806; asked at 53729843 ms in boot 10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',X'5afd3071d8931d80efc099ee4e8e8533e530a71c77f663577217e1945792b14b',X'1603b96fa92e88c00e470840610ea0336b1fd0df16d08b4221727de9419c6c40');
INSERT INTO audit VALUES(13,1795351801977,'resolved',7,'deploy','cancelled',1,'cancel','system',0,'root',NULL,NULL,'cancel',NULL,NULL,'nas',31537,X'52a852d99485eb0eaedcca1a3038ac7b0ed0734c9ab3909c3dcf5328337a8946','the cancel button was simulated',X'1603b96fa92e88c00e470840610ea0336b1fd0df16d08b4221727de9419c6c40',X'f92fa8705c2a29ccc0cb94ec0f860948945192a0de31367d539f7b746165fc76');
INSERT INTO audit VALUES(14,1795351802004,'asked',8,'backup',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'notify',NULL,NULL,'nas',31545,X'efab8d2165ad275406f93dbdddae9c5e58f8433ac1866e6038ba3e4194b4d3eb','leaves 3e095be13489aa47c8ba963e8c4cd3d5c21e8dd1ff5392bc1dcc481176022139; asked at 53729909 ms in boot 10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',X'f92fa8705c2a29ccc0cb94ec0f860948945192a0de31367d539f7b746165fc76',X'8168289d0802ccdcbd96290e4e9ec71c1725663762c93fed3d98f3daf8bff760');
INSERT INTO audit VALUES(15,1795351803037,'erased',NULL,NULL,NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'purge',NULL,NULL,'nas',31547,NULL,'alerts 1, 6; left c25d30042e0aa7afa6397d5e8ef4bf30d15a1077ba65f8aeee429ca72837395b',X'8168289d0802ccdcbd96290e4e9ec71c1725663762c93fed3d98f3daf8bff760',X'90950b8f597a43c94de2f617962ba36e5ce63497bc3e8b82701cf39f5b270283');
INSERT INTO audit VALUES(16,1795351805193,'resolved',3,'updates','expired',1,'cancel','policy',0,'root',NULL,NULL,'deadline',NULL,NULL,'nas',31557,X'e53d85b2cefd440c25743a2dc9083fc7ea1b8e60eb908ce358ff60c4f10f8245','expired at 53733098 ms in boot 10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',X'90950b8f597a43c94de2f617962ba36e5ce63497bc3e8b82701cf39f5b270283',X'3bfa40d7fd93a91982b27234f74b9b3bb0202f0ff6bdec7c7a2da58876bd3213');
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
CREATE INDEX audit_erased ON audit (seq) WHERE event = 'erased';
CREATE TRIGGER audit_needs_this_version BEFORE INSERT ON audit
    WHEN NOT this_queue_needs_a_newer_alertq ()
BEGIN SELECT RAISE (ABORT, 'this queue needs a newer alertq'); END;
PRAGMA writable_schema=OFF;
