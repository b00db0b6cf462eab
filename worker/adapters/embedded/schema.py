"""The tables of the embedded engine. A changed table is a new FORMAT."""

from typing import Final

FORMAT: Final = 1
CHANGES: Final = "CREATE TABLE IF NOT EXISTS changes (first INTEGER PRIMARY KEY, data BLOB NOT NULL)"
"""What was changed by order, put aside: made when there is something to put into it."""

REQUISITES: Final = (
    # Which stored documents are requisites, and `ok` of those of status 200; with their totals, by triggers as all are.
    "CREATE TABLE requisites (key TEXT PRIMARY KEY, ok INT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE shown (requisites INT NOT NULL, requisites_200 INT NOT NULL)",
    "INSERT INTO shown VALUES (0, 0)",
    """CREATE TRIGGER requisite_added AFTER INSERT ON requisites BEGIN
       UPDATE shown SET requisites = requisites + 1, requisites_200 = requisites_200 + NEW.ok; END""",
    """CREATE TRIGGER requisite_changed AFTER UPDATE ON requisites WHEN OLD.ok <> NEW.ok BEGIN
       UPDATE shown SET requisites_200 = requisites_200 + NEW.ok - OLD.ok; END""",
    """CREATE TRIGGER requisite_gone AFTER DELETE ON requisites BEGIN
       UPDATE shown SET requisites = requisites - 1, requisites_200 = requisites_200 - OLD.ok; END""",
    """CREATE TRIGGER document_gone AFTER DELETE ON pages
       WHEN NOT EXISTS (SELECT 1 FROM pages WHERE key = OLD.key) BEGIN
       DELETE FROM requisites WHERE key = OLD.key; END""",
)
"""Added to a folder of a version that knew no requisites when it is opened to be written."""

SKETCHES: Final = (
    # id: the fingerprint of the URL. found_by: a key of the sketch.
    "CREATE TABLE sketches (id INTEGER PRIMARY KEY, key TEXT NOT NULL, sketch BLOB NOT NULL)",
    "CREATE TABLE sketch_keys (found_by INT NOT NULL, id INT NOT NULL, PRIMARY KEY (found_by, id)) WITHOUT ROWID",
)
"""What near-duplicates are found by. Added likewise to a folder of a version that told them by their simhashes."""

# WITHOUT ROWID: one B-tree a table, in the order in which it is read.
SCHEMA: Final = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    # The log: offsets of a topic are dense; `start` is the first that is not deleted, so that the next offset is known
    # when nothing is left.
    """CREATE TABLE records (partition INT NOT NULL, priority INT NOT NULL, offset INT NOT NULL, data BLOB NOT NULL,
       PRIMARY KEY (partition, priority, offset)) WITHOUT ROWID""",
    """CREATE TABLE watermarks (partition INT NOT NULL, priority INT NOT NULL, committed INT NOT NULL,
       start INT NOT NULL, epoch INT NOT NULL, PRIMARY KEY (partition, priority)) WITHOUT ROWID""",
    # Seen: 64-bit fingerprints as SQLite's signed integers.
    "CREATE TABLE seen (fingerprint INTEGER PRIMARY KEY)",
    "CREATE TABLE contents (fingerprint BLOB PRIMARY KEY, key TEXT NOT NULL) WITHOUT ROWID",
    # The store: msgpack in `data`, with the columns that are searched or counted before it.
    """CREATE TABLE rows (key TEXT PRIMARY KEY, stamp INT NOT NULL, host TEXT NOT NULL, state TEXT NOT NULL,
       data BLOB NOT NULL) WITHOUT ROWID""",
    """CREATE TABLE pages (key TEXT NOT NULL, visit INT NOT NULL, stamp INT NOT NULL, status INT NOT NULL,
       size INT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (key, visit))""",
    "CREATE TABLE bodies (sha256 BLOB PRIMARY KEY, data BLOB NOT NULL)",
    """CREATE TABLE calendar (partition INT NOT NULL, bucket INT NOT NULL, id INT NOT NULL, stamp INT NOT NULL,
       data BLOB NOT NULL, PRIMARY KEY (partition, bucket, id)) WITHOUT ROWID""",
    """CREATE TABLE backlog (partition INT NOT NULL, host TEXT NOT NULL, chunk INT NOT NULL, id INT NOT NULL,
       stamp INT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (partition, host, chunk, id)) WITHOUT ROWID""",
    "CREATE TABLE partitions (partition INTEGER PRIMARY KEY, stamp INT NOT NULL, data BLOB NOT NULL)",
    "CREATE TABLE hosts (host TEXT PRIMARY KEY, stamp INT NOT NULL, data BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE robots (origin TEXT PRIMARY KEY, fetched_at REAL NOT NULL, data BLOB NOT NULL)",
    "CREATE TABLE dead_letters (number INTEGER PRIMARY KEY, id INT NOT NULL UNIQUE, data BLOB NOT NULL)",
    "CREATE TABLE seed_hosts (host TEXT PRIMARY KEY) WITHOUT ROWID",
    # The coordinator.
    "CREATE TABLE epochs (partition INTEGER PRIMARY KEY, epoch INT NOT NULL)",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY CHECK (id = 0), data BLOB NOT NULL)",
    "CREATE TABLE stamps (id INTEGER PRIMARY KEY CHECK (id = 0), at REAL NOT NULL)",
    # Totals, so that a crawl of millions goes on at once; by triggers, so that no write can forget them. Pages count in
    # their newest version.
    "CREATE TABLE states (state TEXT PRIMARY KEY, urls INT NOT NULL) WITHOUT ROWID",
    """CREATE TRIGGER row_added AFTER INSERT ON rows BEGIN
       INSERT INTO states VALUES (NEW.state, 1) ON CONFLICT (state) DO UPDATE SET urls = urls + 1; END""",
    """CREATE TRIGGER row_changed AFTER UPDATE ON rows WHEN OLD.state <> NEW.state BEGIN
       UPDATE states SET urls = urls - 1 WHERE state = OLD.state;
       INSERT INTO states VALUES (NEW.state, 1) ON CONFLICT (state) DO UPDATE SET urls = urls + 1; END""",
    "CREATE TABLE totals (pages INT NOT NULL, pages_200 INT NOT NULL, bytes INT NOT NULL)",
    "INSERT INTO totals VALUES (0, 0, 0)",
    """CREATE TRIGGER page_added AFTER INSERT ON pages
       WHEN NOT EXISTS (SELECT 1 FROM pages WHERE key = NEW.key AND visit > NEW.visit) BEGIN
       UPDATE totals SET (pages, pages_200, bytes) = (
           SELECT pages + 1 - count(*), pages_200 + (NEW.status = 200) - coalesce(sum(status = 200), 0),
               bytes + NEW.size - coalesce(sum(size), 0)
           FROM (SELECT status, size FROM pages WHERE key = NEW.key AND visit < NEW.visit
                 ORDER BY visit DESC LIMIT 1)); END""",
    """CREATE TRIGGER page_changed AFTER UPDATE ON pages
       WHEN NOT EXISTS (SELECT 1 FROM pages WHERE key = NEW.key AND visit > NEW.visit) BEGIN
       UPDATE totals SET pages_200 = pages_200 + (NEW.status = 200) - (OLD.status = 200),
           bytes = bytes + NEW.size - OLD.size; END""",
    *REQUISITES,
    *SKETCHES,
)
