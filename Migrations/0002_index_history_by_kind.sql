-- 0002 index the history by kind
--
-- Why:    a filter on two columns needs an index of both, and each index costs every answer.
-- Shape:  an outcome and who decided are one of 20 kinds, whose newest rows are read one by one and
--         merged; so one index ends in both and serves filters on either, both or none of them.
--         Seven indexes take the place of eight, and serve all pairs, which those did not.
-- Safety: indexes only; no row changes. It takes some 10 s for a million responses.
-- Runs:   once; its version stamp commits in the same transaction.
-- Never edit this file after release; add the next number instead.

DROP INDEX responses_source;
DROP INDEX responses_outcome;
DROP INDEX responses_button;
DROP INDEX responses_by;
DROP INDEX responses_source_outcome;
DROP INDEX responses_source_button;
DROP INDEX responses_source_by;
DROP INDEX responses_uncollected;

-- "Which responses are of this kind?"
CREATE INDEX responses_kind ON responses (outcome, resolved_by, resolved_ms);
-- "… asked by this source?"
CREATE INDEX responses_source_kind ON responses (source, outcome, resolved_by, resolved_ms);
-- "… with this button?"
CREATE INDEX responses_button_kind ON responses (button, outcome, resolved_by, resolved_ms)
    WHERE button IS NOT NULL;
-- "… asked by this source, with this button?"
CREATE INDEX responses_source_button_kind
    ON responses (source, button, outcome, resolved_by, resolved_ms) WHERE button IS NOT NULL;
-- "… not collected yet: of all, by this source, with this button?"
CREATE INDEX responses_uncollected_kind ON responses (outcome, resolved_by, resolved_ms)
    WHERE collected_ms IS NULL;
CREATE INDEX responses_uncollected_source_kind
    ON responses (source, outcome, resolved_by, resolved_ms) WHERE collected_ms IS NULL;
CREATE INDEX responses_uncollected_button_kind
    ON responses (button, outcome, resolved_by, resolved_ms)
    WHERE button IS NOT NULL AND collected_ms IS NULL;
