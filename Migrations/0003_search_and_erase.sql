-- 0003 search and erase
--
-- Why:    a word in a title is to be found among millions of responses, and an old text erased.
-- Shape:  an index of the words of what was asked, by the response's `seq`, and one row that tells
--         how far it goes and whether an erasure is under way. The index has no texts of its own:
--         it is filled later, piece by piece, so that no question and no answer pays for it.
-- Safety: new tables only; no rewrite.
-- Runs:   once; its version stamp commits in the same transaction.
-- Never edit this file after release; add the next number instead.

-- "Which responses are to questions with these words?"
CREATE VIRTUAL TABLE text_index USING fts5 (
    title, message, buttons, info,
    content = '', columnsize = 0, tokenize = "unicode61 remove_diacritics 2"
);

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
INSERT INTO upkeep (id) VALUES (1);
