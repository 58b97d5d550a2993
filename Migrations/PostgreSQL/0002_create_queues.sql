-- 0002 create queues
--
-- Why:    many machines ask and answer in one queue, which outlives each of them.
-- Shape:  as on SQLite: sources ask alerts, each of which ends at most once; the audit log tells
--         every transition, each entry chained to the one before. A database has any number of
--         queues. Times are milliseconds since 1970 by the server's clock (`_ms`), or of the boot
--         that `boot` names (`_boot_ms`), which only alerts that were copied from a file have.
-- Order:  a transaction that writes locks the row of its queue in `heads` first, and by that every
--         other writer of the queue out, until it is committed.
-- Cost:   for every statement, the server reads all CHECK constraints and all conditions of triggers
--         of the table anew; those of domains and functions it keeps. So most of what concerns one
--         column is a domain, and one function says what may change of an alert.
-- Names:  all of it is in the schema `alertq`, in which nobody but its owner may create anything.
--         Programs look for names in `pg_catalog` and there, and functions by themselves, so that
--         nothing that somebody has made elsewhere, or as a temporary table, is taken for it.
-- Runs:   once, in one transaction, which has made the schema if it was not there.

SET LOCAL search_path = pg_catalog, alertq, pg_temp;

-- A migration only adds to what is there, so that programs of the version before go on: `minimum` is
-- the lowest version whose programs still can.
CREATE TABLE alertq.schema_versions (
    version    integer     PRIMARY KEY,
    minimum    integer     NOT NULL CHECK (minimum <= version),
    applied_at timestamptz NOT NULL DEFAULT now()
);

CREATE DOMAIN alertq.flag         AS smallint CHECK (VALUE IN (0, 1));
CREATE DOMAIN alertq.filled_text  AS text     CHECK (VALUE <> '');
CREATE DOMAIN alertq.json_text    AS text     CHECK (VALUE IS NULL OR VALUE::jsonb IS NOT NULL);
CREATE DOMAIN alertq.duration_ms  AS bigint   CHECK (VALUE > 0);
CREATE DOMAIN alertq.hash32       AS bytea    CHECK (length(VALUE) = 32);
CREATE DOMAIN alertq.style        AS text     CHECK (VALUE IN ('alert', 'actionSheet'));
CREATE DOMAIN alertq.priority     AS integer  CHECK (VALUE BETWEEN 0 AND 3);
CREATE DOMAIN alertq.button_index AS bigint   CHECK (VALUE >= -1);

-- `host` is the machine of a file that was copied: accounts of it have an empty `host` below. Ids
-- come from the rows that are there, here and below: a replica of the tables has no sequences.
CREATE TABLE alertq.queues (
    id       integer PRIMARY KEY CHECK (id > 0),
    name     filled_text COLLATE "C" NOT NULL UNIQUE,
    host     text COLLATE "C" NOT NULL DEFAULT ''
);

-- The end of each log, which orders the commits: locking it excludes other writers. It also says
-- where ids go on, and how often something changed without an entry.
CREATE TABLE alertq.heads (
    queue    integer PRIMARY KEY REFERENCES alertq.queues (id),
    seq      bigint NOT NULL DEFAULT 0,
    hash     hash32 NOT NULL DEFAULT decode(repeat('00', 32), 'hex'),
    -- The time of the last transaction: none is earlier than the one before.
    at_ms    bigint NOT NULL DEFAULT 0,
    last_id  bigint NOT NULL DEFAULT 0,
    -- The lowest id that the next alert may get.
    first_id bigint NOT NULL DEFAULT 1,
    changes  bigint NOT NULL DEFAULT 0,
    -- How far the time of the queue is ahead of the server's clock, since that was set.
    offset_ms bigint NOT NULL DEFAULT 0,
    -- Where the last transaction took place: on another server, or after a failover, ids that were
    -- given here before may be unknown, and must not be given once more.
    cluster  text,
    timeline bigint,
    -- How often texts were erased, and up to which of these times they are known to be gone from the
    -- unused places of the table.
    erasures      bigint NOT NULL DEFAULT 0,
    erasures_done bigint NOT NULL DEFAULT 0 CHECK (erasures_done <= erasures)
) WITH (fillfactor = 10);

CREATE TABLE alertq.sources (
    queue     integer NOT NULL REFERENCES alertq.queues (id),
    id        bigint PRIMARY KEY,
    principal text COLLATE "C" NOT NULL,
    name      text COLLATE "C" NOT NULL,
    pending   bigint NOT NULL DEFAULT 0 CHECK (pending >= 0),
    UNIQUE (queue, principal, name)
) WITH (fillfactor = 50);

CREATE TABLE alertq.turns (
    queue        integer NOT NULL REFERENCES alertq.queues (id),
    priority     priority NOT NULL,
    principal_id bigint  NOT NULL,
    source_id    bigint  NOT NULL,
    seq          bigint  NOT NULL,
    PRIMARY KEY (queue, priority, principal_id, source_id)
);

-- What was asked, which never changes but for an erasure, and how it ended, which is written once.
CREATE TABLE alertq.alerts (
    queue            integer NOT NULL REFERENCES alertq.queues (id),
    id               bigint  NOT NULL,
    source_id        bigint  NOT NULL REFERENCES alertq.sources (id),
    means            text,
    pid              bigint,
    host             text COLLATE "C",
    key              filled_text COLLATE "C",
    style            style   NOT NULL,
    priority         priority NOT NULL,
    default_button   text,
    handler          text COLLATE "C",
    presenters       json_text,
    salt             bytea,
    dismiss_after_ms duration_ms,
    snooze_ms        duration_ms,
    valid_ms         duration_ms,
    awaited          flag    NOT NULL DEFAULT 0,
    boot             text COLLATE "C" NOT NULL,
    asked_ms         bigint NOT NULL,
    asked_boot_ms    bigint NOT NULL,
    expires_ms       bigint,
    expires_boot_ms  bigint CHECK (expires_boot_ms IS NULL OR expires_ms IS NOT NULL),

    queued_seq       bigint NOT NULL,
    presented_ms     bigint,
    snoozes          bigint NOT NULL DEFAULT 0,
    snoozed_ms       bigint,
    snoozed_boot_ms  bigint,
    snoozed_boot     text COLLATE "C",

    outcome          text,
    button_index     button_index,
    resolved_by      text,
    handled          flag,
    responder        text COLLATE "C",
    responder_name   text COLLATE "C",
    via              text COLLATE "C",
    tty              text,
    ssh              text,
    responder_means  text,
    responder_host   text,
    responder_pid    bigint,
    resolved_ms      bigint,
    resolved_seq     bigint,
    resolved_boot_ms bigint,
    resolved_boot    text CHECK (resolved_boot IS NULL OR valid_ms IS NOT NULL),
    collected_ms     bigint,
    erased_seq       bigint,
    superseded_by    bigint NOT NULL DEFAULT 0 CHECK (superseded_by = 0 OR superseded_by > id),

    title            filled_text,
    message          text,
    buttons          json_text NOT NULL,
    info             text NOT NULL,
    fields           text,
    field_values     text,
    note             filled_text,
    -- The words of the texts of an alert that has ended, for searching.
    words            tsvector,

    PRIMARY KEY (queue, id),
    CHECK (outcome IS NULL OR (button_index IS NOT NULL AND resolved_by IS NOT NULL
        AND handled IS NOT NULL AND resolved_ms IS NOT NULL AND resolved_seq IS NOT NULL
        AND snoozed_ms IS NULL)),
    CHECK (outcome IS NOT NULL OR num_nonnulls(button_index, resolved_by, handled, responder,
        responder_name, via, tty, ssh, responder_means, responder_host, responder_pid, resolved_ms,
        resolved_seq, resolved_boot, collected_ms, field_values, note) = 0),
    CHECK (field_values IS NULL OR fields IS NOT NULL),
    CHECK ((snoozed_ms IS NULL) = (snoozed_boot IS NULL)),
    CHECK ((snoozed_ms IS NULL) = (snoozed_boot_ms IS NULL)),
    CHECK ((resolved_boot IS NULL) = (resolved_boot_ms IS NULL)),
    CHECK (outcome IS DISTINCT FROM 'answered' OR button_index >= 0),
    CHECK (outcome IS NULL OR outcome NOT IN ('dismissed', 'withdrawn') OR button_index = -1),
    CHECK (superseded_by = 0 OR outcome IS NOT NULL)
) WITH (fillfactor = 70);

-- "Has this source asked with this key before?", and the history of a key. The key is that of the
-- alert that no other has superseded.
CREATE UNIQUE INDEX alerts_key ON alertq.alerts (queue, key, source_id, superseded_by)
    WHERE key IS NOT NULL;
-- "What waits, and what of this source is shown next?"
CREATE INDEX alerts_next ON alertq.alerts (queue, priority, source_id, queued_seq)
    WHERE outcome IS NULL AND snoozed_ms IS NULL;
-- "Whose deadline has passed?", and "Whose snooze is over?"
CREATE INDEX alerts_expiry ON alertq.alerts (queue, boot, expires_boot_ms)
    WHERE outcome IS NULL AND expires_ms IS NOT NULL;
CREATE INDEX alerts_wall_expiry ON alertq.alerts (queue, expires_ms)
    WHERE outcome IS NULL AND expires_ms IS NOT NULL;
CREATE INDEX alerts_moment ON alertq.alerts (queue, expires_ms)
    WHERE outcome IS NULL AND expires_ms IS NOT NULL AND expires_boot_ms IS NULL;
-- "What waits?"
CREATE INDEX alerts_waiting ON alertq.alerts (queue, id) WHERE outcome IS NULL;
CREATE INDEX alerts_snoozed ON alertq.alerts (queue, snoozed_ms)
    WHERE outcome IS NULL AND snoozed_ms IS NOT NULL;
-- The history, newest first: "all", "… that ended in this way", "… asked by this source", "… decided
-- by this user".
CREATE INDEX alerts_resolved ON alertq.alerts (queue, resolved_ms, resolved_seq)
    WHERE outcome IS NOT NULL;
CREATE INDEX alerts_outcome ON alertq.alerts (queue, outcome, resolved_ms, resolved_seq)
    WHERE outcome IS NOT NULL;
CREATE INDEX alerts_source ON alertq.alerts (queue, source_id, resolved_ms, resolved_seq)
    WHERE outcome IS NOT NULL;
CREATE INDEX alerts_responder ON alertq.alerts (queue, responder_name, resolved_ms, resolved_seq)
    WHERE responder_name IS NOT NULL;
-- "Which responses wait for this handler?", and which were not collected yet.
CREATE INDEX alerts_uncollected ON alertq.alerts (queue, handler, resolved_seq)
    WHERE outcome IS NOT NULL AND collected_ms IS NULL;
-- "Which responses are to questions with these words?": rare words lead to them, and for frequent
-- ones the newest responses are looked through.
CREATE UNIQUE INDEX alerts_resolved_seq ON alertq.alerts (queue, resolved_seq)
    WHERE outcome IS NOT NULL;
CREATE INDEX alerts_words ON alertq.alerts USING gin (words) WHERE words IS NOT NULL;

-- The audit log. A fork is impossible: a sequence number and a previous hash come once.
CREATE TABLE alertq.audit (
    queue        integer NOT NULL REFERENCES alertq.queues (id),
    seq          bigint  NOT NULL CHECK (seq > 0),
    at_ms        bigint  NOT NULL,
    event        text    NOT NULL,
    alert_id     bigint,
    source       text COLLATE "C",
    outcome      text,
    button_index bigint,
    button_role  text,
    resolved_by  text,
    principal    text    NOT NULL,
    "user"       text,
    login_uid    bigint,
    session      bigint,
    via          text    NOT NULL,
    tty          text,
    ssh          text,
    means        text,
    host         text,
    boot         text    NOT NULL,
    pid          bigint,
    content      hash32,
    detail       text,
    previous     hash32  NOT NULL,
    hash         hash32  NOT NULL,
    PRIMARY KEY (queue, seq),
    UNIQUE (queue, previous)
);
-- "What happened to this alert?"
CREATE INDEX audit_alert ON alertq.audit (queue, alert_id, seq) WHERE alert_id IS NOT NULL;
-- "Was the queue restored since this answer?"
CREATE INDEX audit_restored ON alertq.audit (queue, seq) WHERE event = 'restored';

-- Which changes have taken effect whose callers gave them a name. Kept for a day.
CREATE TABLE alertq.requests (
    queue     integer NOT NULL REFERENCES alertq.queues (id),
    principal text COLLATE "C" NOT NULL,
    request   bytea   NOT NULL CHECK (length(request) = 16),
    position  bigint  NOT NULL,
    alert_id  bigint  NOT NULL,
    seq       bigint  NOT NULL,
    made_ms   bigint  NOT NULL,
    PRIMARY KEY (queue, request, principal, position)
);
CREATE INDEX requests_made ON alertq.requests (queue, made_ms);

-- The screens that are attached, each for as long as it renews its lease. `epoch` is that of the
-- attachment; at most one leads. Times are those of the server's clock.
CREATE TABLE alertq.screens (
    queue   integer NOT NULL REFERENCES alertq.queues (id),
    epoch   bigint  NOT NULL,
    leads   flag    NOT NULL DEFAULT 0,
    screen  text    NOT NULL,
    seen_ms bigint  NOT NULL,
    PRIMARY KEY (queue, epoch)
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX screens_leader ON alertq.screens (queue) WHERE leads = 1;

-- The leases on alerts, likewise: one to handle its response, any number to wait for it.
CREATE TABLE alertq.leases (
    queue    integer NOT NULL REFERENCES alertq.queues (id),
    alert_id bigint  NOT NULL,
    purpose  text    NOT NULL CHECK (purpose IN ('handling', 'waiting')),
    epoch    bigint  NOT NULL,
    seen_ms  bigint  NOT NULL,
    PRIMARY KEY (queue, epoch)
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX leases_handling ON alertq.leases (queue, alert_id) WHERE purpose = 'handling';
CREATE INDEX leases_waiting ON alertq.leases (queue, alert_id) WHERE purpose = 'waiting';

-- An alert is kept, and neither its question nor its end changes. An erasure removes the texts of
-- an alert that has ended, and a response is collected once.
CREATE FUNCTION alertq.refuse_change() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, alertq, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
END
$$;
CREATE TRIGGER alerts_stay BEFORE DELETE ON alertq.alerts
    FOR EACH ROW EXECUTE FUNCTION alertq.refuse_change('an alert is kept for ever');
CREATE TRIGGER alerts_stay_all BEFORE TRUNCATE ON alertq.alerts
    FOR EACH STATEMENT EXECUTE FUNCTION alertq.refuse_change('an alert is kept for ever');
-- Whether the account may do what the owner of a table may.
CREATE FUNCTION alertq.owns(relation oid) RETURNS boolean LANGUAGE sql STABLE
    RETURN pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = relation), 'USAGE');
CREATE FUNCTION alertq.refuse_changed_alert() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, alertq, pg_temp AS $$
DECLARE
    refusal text := CASE
        WHEN (old.queue, old.id, old.source_id, old.means, old.pid, old.host, old.key, old.style,
                old.priority, old.handler, old.presenters, old.dismiss_after_ms, old.snooze_ms, old.valid_ms,
                old.awaited, old.boot, old.asked_ms, old.asked_boot_ms, old.expires_ms,
                old.expires_boot_ms)
            IS DISTINCT FROM (new.queue, new.id, new.source_id, new.means, new.pid, new.host,
                new.key, new.style, new.priority, new.handler, new.presenters, new.dismiss_after_ms,
                new.snooze_ms, new.valid_ms, new.awaited, new.boot, new.asked_ms,
                new.asked_boot_ms, new.expires_ms, new.expires_boot_ms)
            THEN 'a question never changes'
        WHEN (old.title, old.message, old.buttons, old.info, old.fields, old.default_button,
                    old.salt)
                IS DISTINCT FROM (new.title, new.message, new.buttons, new.info, new.fields,
                    new.default_button, new.salt)
            AND (old.outcome IS NULL OR old.salt IS NULL
                OR num_nonnulls(new.title, new.message, new.fields, new.salt) > 0
                OR new.info <> '{}')
            THEN 'a question never changes'
        WHEN old.salt IS NOT NULL AND new.salt IS NULL AND NOT owns(tg_relid)
            THEN 'only the owner of the tables erases texts'
        WHEN old.outcome IS NOT NULL
            AND (old.outcome, old.button_index, old.resolved_by, old.handled, old.responder,
                    old.responder_name, old.via, old.tty, old.ssh, old.responder_means,
                    old.responder_host, old.responder_pid, old.resolved_ms, old.resolved_seq, old.resolved_boot_ms,
                    old.resolved_boot)
                IS DISTINCT FROM (new.outcome, new.button_index, new.resolved_by, new.handled,
                    new.responder, new.responder_name, new.via, new.tty, new.ssh,
                    new.responder_means, new.responder_host, new.responder_pid, new.resolved_ms, new.resolved_seq,
                    new.resolved_boot_ms, new.resolved_boot)
            THEN 'a response is final'
        WHEN old.outcome IS NOT NULL
            AND (old.field_values, old.note) IS DISTINCT FROM (new.field_values, new.note)
            AND num_nonnulls(new.field_values, new.note, new.salt) > 0
            THEN 'a response is final'
        WHEN old.collected_ms IS DISTINCT FROM new.collected_ms
            AND (new.outcome IS NULL OR old.collected_ms IS NOT NULL)
            THEN 'a response is collected once'
        WHEN old.superseded_by <> new.superseded_by
            AND (old.outcome IS NULL OR old.superseded_by <> 0)
            THEN 'an alert is superseded once'
        END;
BEGIN
    IF refusal IS NOT NULL THEN
        RAISE EXCEPTION '%', refusal USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN new;
END
$$;
-- An end of a log that has gone back lets others write what was written before.
CREATE FUNCTION alertq.refuse_earlier_head() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, alertq, pg_temp AS $$
BEGIN
    IF (new.queue <> old.queue OR new.seq < old.seq OR new.at_ms < old.at_ms
            OR new.last_id < old.last_id OR new.first_id < old.first_id
            OR new.changes < old.changes OR (new.seq = old.seq AND new.hash <> old.hash))
        AND NOT owns(tg_relid)
    THEN
        RAISE EXCEPTION 'the end of a log never goes back'
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN new;
END
$$;
CREATE TRIGGER heads_advance BEFORE UPDATE ON alertq.heads
    FOR EACH ROW EXECUTE FUNCTION alertq.refuse_earlier_head();
CREATE TRIGGER alerts_are_final BEFORE UPDATE ON alertq.alerts
    FOR EACH ROW EXECUTE FUNCTION alertq.refuse_changed_alert();
CREATE TRIGGER sources_stay BEFORE DELETE ON alertq.sources
    FOR EACH ROW EXECUTE FUNCTION alertq.refuse_change('a source is kept for ever');
CREATE TRIGGER sources_are_final BEFORE UPDATE ON alertq.sources FOR EACH ROW
    WHEN ((old.queue, old.id, old.principal, old.name)
        IS DISTINCT FROM (new.queue, new.id, new.principal, new.name))
    EXECUTE FUNCTION alertq.refuse_change('a source never changes');
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON alertq.audit
    FOR EACH ROW EXECUTE FUNCTION alertq.refuse_change('the audit log is append-only');
CREATE TRIGGER audit_is_append_only_all BEFORE TRUNCATE ON alertq.audit
    FOR EACH STATEMENT EXECUTE FUNCTION alertq.refuse_change('the audit log is append-only');

-- For people with psql: what waits, most urgent first, and what was answered, newest first. The
-- machines of accounts are named here also where rows don't name them.
CREATE FUNCTION alertq.rfc3339(ms bigint) RETURNS text LANGUAGE sql STABLE
    RETURN to_char(to_timestamp(ms / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
-- The number of an account, and the machine that its principal names; NULL for a person.
CREATE FUNCTION alertq.uid(principal text) RETURNS bigint LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN principal !~ '^person:' THEN split_part(principal, '@', 1)::bigint END;
CREATE FUNCTION alertq.account_host(principal text, home text) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN principal !~ '^person:'
        THEN coalesce(nullif(split_part(principal, '@', 2), ''), nullif(home, '')) END;
CREATE VIEW alertq.pending AS
SELECT queues.name AS queue, alerts.id, sources.name AS source, uid(principal) AS uid, key,
       CASE priority WHEN 0 THEN 'low' WHEN 1 THEN 'normal' WHEN 2 THEN 'high'
                     ELSE 'critical' END AS priority,
       title, message, buttons, rfc3339(asked_ms) AS asked_at, rfc3339(expires_ms) AS expires_at,
       rfc3339(snoozed_ms) AS snoozed_until, snoozes, fields,
       account_host(principal, queues.host) AS account_host, principal
FROM alerts JOIN sources ON sources.id = alerts.source_id
JOIN queues ON queues.id = alerts.queue
WHERE outcome IS NULL
ORDER BY queues.name, alerts.priority DESC, alerts.id;

CREATE VIEW alertq.history AS
SELECT queues.name AS queue, alerts.id, sources.name AS source,
       uid(principal) AS source_uid, key,
       coalesce(title, '#' || alerts.id) AS title, message, outcome,
       CASE WHEN button_index >= 0
           THEN buttons::jsonb -> button_index::int ->> 'id' END AS button,
       button_index, resolved_by, uid(responder) AS uid, responder_name AS "user", via, tty, ssh,
       responder_host AS host, responder_pid AS pid, rfc3339(asked_ms) AS asked_at,
       rfc3339(resolved_ms) AS resolved_at, rfc3339(collected_ms) AS collected_at,
       field_values, note, nullif(superseded_by, 0) AS superseded_by, valid_ms,
       account_host(principal, queues.host) AS source_account_host,
       account_host(responder, queues.host) AS account_host,
       principal AS source_principal, responder AS principal, responder_means AS means
FROM alerts JOIN sources ON sources.id = alerts.source_id
JOIN queues ON queues.id = alerts.queue
WHERE outcome IS NOT NULL
ORDER BY queues.name, resolved_ms DESC, resolved_seq DESC;
INSERT INTO alertq.schema_versions (version, minimum) VALUES (2, 2);
