PRAGMA application_id = 1634497137;
PRAGMA user_version = 2;
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
INSERT INTO alerts VALUES(1,1,26677,'nas','snapshots','alert',1,'Delete 40 GB of old snapshots?','tank/old','[{"id":"delete","title":"Delete"},{"id":"keep","role":"cancel","title":"Keep"}]','{}',NULL,NULL,NULL,X'1b0c28eba422cb4eae962f4a8bd0b1d9',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314483197,16411102,NULL,NULL,'resolved',NULL,0,NULL,NULL,NULL,0);
INSERT INTO alerts VALUES(2,2,26703,'nas','nginx','alert',1,'Restart nginx?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}','No',NULL,NULL,X'13ce7c2dbf5542c555f7cdc612cc2d94',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314483324,16411229,1795400883324,102811229,'queued',NULL,0,NULL,NULL,NULL,0);
INSERT INTO alerts VALUES(3,3,26712,'nas',NULL,'alert',1,'Update?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}','No',NULL,NULL,X'9299363df3528180a2e549888e60df67',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314483380,16411285,1795314484380,16412285,'resolved',NULL,0,NULL,NULL,NULL,0);
INSERT INTO alerts VALUES(4,3,26713,'nas','reboot','alert',1,'Reboot?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}',NULL,NULL,NULL,X'195934faf049a2af1ed51c0ad431e196',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314483432,16411337,NULL,NULL,'resolved',NULL,0,NULL,NULL,NULL,0);
INSERT INTO alerts VALUES(5,2,26730,'nas',NULL,'alert',1,'Later?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}',NULL,NULL,NULL,X'6f4b3e9a1b0868c0a1aded6929c0e73f',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314483526,16411431,NULL,NULL,'queued',NULL,1,1795318083571,20011476,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',0);
INSERT INTO alerts VALUES(6,2,26741,'nas',NULL,'alert',1,'Never mind?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}',NULL,NULL,NULL,X'b016e0c38a1b6e9c13d01d9d17041ce4',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314483602,16411506,NULL,NULL,'resolved',NULL,0,NULL,NULL,NULL,0);
INSERT INTO alerts VALUES(7,2,26751,'nas',NULL,'alert',1,'Stop?',NULL,'[{"id":"Yes","title":"Yes"},{"id":"No","role":"cancel","title":"No"}]','{}',NULL,NULL,NULL,X'221b1bc17c9058cc292c73978730712a',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314483687,16411592,NULL,NULL,'resolved',NULL,0,NULL,NULL,NULL,0);
INSERT INTO alerts VALUES(8,1,26760,'nas',NULL,'alert',1,'Backup done',NULL,'[]','{}',NULL,NULL,NULL,X'5bc700d62d11e07315e8d2638b16e910',NULL,NULL,'10ff89e5-269a-484e-9210-0cfd812a3592 time:[4026531834]',1795314483778,16411683,NULL,NULL,'queued',NULL,0,NULL,NULL,NULL,0);
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
INSERT INTO responses VALUES(1,1,'backup','snapshots',NULL,'answered','keep',1,'person',0,0,'root','answer',NULL,NULL,'nas',26686,1795314483236,1795314483285);
INSERT INTO responses VALUES(2,4,'updates','reboot',NULL,'answered','Yes',0,'person',0,0,'root','answer',NULL,NULL,'nas',26722,1795314483485,NULL);
INSERT INTO responses VALUES(3,6,'deploy',NULL,NULL,'withdrawn',NULL,-1,'asker',0,0,'root','withdraw',NULL,NULL,'nas',26742,1795314483646,NULL);
INSERT INTO responses VALUES(4,7,'deploy',NULL,NULL,'cancelled','No',1,'system',0,0,'root','cancel',NULL,NULL,'nas',26752,1795314483746,NULL);
INSERT INTO responses VALUES(5,3,'updates',NULL,NULL,'expired','No',1,'policy',0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795314485072,NULL);
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
INSERT INTO audit VALUES(1,1795314483197,'asked',1,'backup',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',26677,X'74a3f884da62f87cb0f782f020e876f844b85381dbda5203213b4f3e093cd667',NULL,X'0000000000000000000000000000000000000000000000000000000000000000',X'bb808177d1e03885b4ac8e730f12be96f428229ecb2007b7c2109436a70b741d');
INSERT INTO audit VALUES(2,1795314483236,'resolved',1,'backup','answered',1,'cancel','person',0,'root',NULL,NULL,'answer',NULL,NULL,'nas',26686,X'74a3f884da62f87cb0f782f020e876f844b85381dbda5203213b4f3e093cd667',NULL,X'bb808177d1e03885b4ac8e730f12be96f428229ecb2007b7c2109436a70b741d',X'6400f1b1d5d75c7035a1e93200e7e36e32d8a65129d73425c226511291cfc527');
INSERT INTO audit VALUES(3,1795314483285,'collected',1,'backup',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',26694,NULL,NULL,X'6400f1b1d5d75c7035a1e93200e7e36e32d8a65129d73425c226511291cfc527',X'd8fea8fc2ce0d6e69507ab4e231d608b802aa918768d1b2736ec87e1182dcfc9');
INSERT INTO audit VALUES(4,1795314483324,'asked',2,'deploy',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',26703,X'4adafd0b2e413065d7b572f9af235746746a6a112ceb2a420c8372f78ef16004','expires 2026-11-23T02:28:03.324Z',X'd8fea8fc2ce0d6e69507ab4e231d608b802aa918768d1b2736ec87e1182dcfc9',X'cc6c664dd0c16e563e43bcd70b28d7de3eb3c693ae6e2c37742a11c5b50c74b1');
INSERT INTO audit VALUES(5,1795314483380,'asked',3,'updates',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',26712,X'1f1e0d4da25269aa2894d34634d7cd79a8fe2ebe38d202e6e6ca20f0dbeab038','expires 2026-11-22T02:28:04.380Z',X'cc6c664dd0c16e563e43bcd70b28d7de3eb3c693ae6e2c37742a11c5b50c74b1',X'4d319e9ed63dd12ab978cb4f0c43bc12ae6c438d61400bd4cf72cf725960a573');
INSERT INTO audit VALUES(6,1795314483432,'asked',4,'updates',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',26713,X'a06fe8ebcb98adc063d103c41f67f1ddadfb3a755716f0b8efa36e840428dd06',NULL,X'4d319e9ed63dd12ab978cb4f0c43bc12ae6c438d61400bd4cf72cf725960a573',X'6ae553d65fd0d41a76ed85c35f61640b9d90faa5d0f75df5e78fb23f4afaf2ea');
INSERT INTO audit VALUES(7,1795314483485,'resolved',4,'updates','answered',0,NULL,'person',0,'root',NULL,NULL,'answer',NULL,NULL,'nas',26722,X'a06fe8ebcb98adc063d103c41f67f1ddadfb3a755716f0b8efa36e840428dd06',NULL,X'6ae553d65fd0d41a76ed85c35f61640b9d90faa5d0f75df5e78fb23f4afaf2ea',X'10ad74ef4192e79d38d0ae1756c5b970fceb16c59c3cc8bed3a078317b69c817');
INSERT INTO audit VALUES(8,1795314483526,'asked',5,'deploy',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',26730,X'44bc2d1084a3eba57ad5f9071f6954ff4f3e48b1edb2921b0c81398e427a72bd',NULL,X'10ad74ef4192e79d38d0ae1756c5b970fceb16c59c3cc8bed3a078317b69c817',X'603a100f3b5a90684d34d8c0ae2e319c7c935dd077ed4827d544a32497d034c1');
INSERT INTO audit VALUES(9,1795314483571,'snoozed',5,'deploy',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'snooze',NULL,NULL,'nas',26732,X'44bc2d1084a3eba57ad5f9071f6954ff4f3e48b1edb2921b0c81398e427a72bd','until 2026-11-22T03:28:03.571Z',X'603a100f3b5a90684d34d8c0ae2e319c7c935dd077ed4827d544a32497d034c1',X'f3eb5f6144253f03739e0103a8f85748958018783efb62d47380e52c95eb31a4');
INSERT INTO audit VALUES(10,1795314483602,'asked',6,'deploy',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',26741,X'f3bc468414fe26e8e70b97b8995c4c55c9bb9d953796941d489acefdc11cc5bf',NULL,X'f3eb5f6144253f03739e0103a8f85748958018783efb62d47380e52c95eb31a4',X'ae85c7c897cd743d1128d2a7c243b20e4b9f06346e861ee869e26efedb0c6010');
INSERT INTO audit VALUES(11,1795314483646,'resolved',6,'deploy','withdrawn',-1,NULL,'asker',0,'root',NULL,NULL,'withdraw',NULL,NULL,'nas',26742,X'f3bc468414fe26e8e70b97b8995c4c55c9bb9d953796941d489acefdc11cc5bf',NULL,X'ae85c7c897cd743d1128d2a7c243b20e4b9f06346e861ee869e26efedb0c6010',X'b5fe5723bd82bda9239ba3e5ce80419b034fa0c8176cfadb20c6f5f751c69ebf');
INSERT INTO audit VALUES(12,1795314483687,'asked',7,'deploy',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'ask',NULL,NULL,'nas',26751,X'921a804afa64bee2c8a05b80f3c728786353e29543355dc32771e02cf283d526',NULL,X'b5fe5723bd82bda9239ba3e5ce80419b034fa0c8176cfadb20c6f5f751c69ebf',X'49d5f5862a29c84963cae8fd365e07938859684522ad282c3cfd4a5518f5007e');
INSERT INTO audit VALUES(13,1795314483746,'resolved',7,'deploy','cancelled',1,'cancel','system',0,'root',NULL,NULL,'cancel',NULL,NULL,'nas',26752,X'921a804afa64bee2c8a05b80f3c728786353e29543355dc32771e02cf283d526',NULL,X'49d5f5862a29c84963cae8fd365e07938859684522ad282c3cfd4a5518f5007e',X'aaaebe339f6ff8a1d3cc77cc31bb059d1fb2f7494629cf404969b276eb0e2a9e');
INSERT INTO audit VALUES(14,1795314483778,'asked',8,'backup',NULL,NULL,NULL,NULL,0,'root',NULL,NULL,'notify',NULL,NULL,'nas',26760,X'a1259f9c5a5e697e9bbef00235790888f4b124a3ce6e86e02cde4554a90c9863',NULL,X'aaaebe339f6ff8a1d3cc77cc31bb059d1fb2f7494629cf404969b276eb0e2a9e',X'06db0035fc6e6e8f4cc6382f733f9d0044d493e1296be94a484ca7e267a3596a');
INSERT INTO audit VALUES(15,1795314485072,'resolved',3,'updates','expired',1,'cancel','policy',0,'root',NULL,NULL,'deadline',NULL,NULL,'nas',26779,X'1f1e0d4da25269aa2894d34634d7cd79a8fe2ebe38d202e6e6ca20f0dbeab038',NULL,X'06db0035fc6e6e8f4cc6382f733f9d0044d493e1296be94a484ca7e267a3596a',X'fe97344844c41cf7f71d1693a6974e2623876508c76e838e0a136304a57b84ff');
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
