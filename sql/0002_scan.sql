-- Scans and the work they leave behind. A scan may be killed at any moment: what it knew and had
-- not done stands in `found` and `vanished`, written in the transaction that stored the digest of
-- the folder it was seen in.

create table scan (
  id          uuid primary key,
  library_id  uuid not null references library on delete cascade,
  mode        text not null,
  -- Library-relative folders or files to scan; empty means the whole library.
  paths       bytea[] not null default '{}',
  options     jsonb not null default '{}',
  state       text not null default 'queued',
  message     text,
  found       integer not null default 0,
  added       integer not null default 0,
  changed     integer not null default 0,
  moved       integer not null default 0,
  missing     integer not null default 0,
  restored    integer not null default 0,
  -- Files that were opened and found to be the same (only their time had changed).
  unchanged   integer not null default 0,
  unreadable_directories integer not null default 0,
  failed      jsonb not null default '{}',
  warnings    integer not null default 0,
  covers      integer not null default 0,
  hashed      integer not null default 0,
  to_index    integer not null default 0,
  to_cover    integer not null default 0,
  to_hash     integer not null default 0,
  bytes_read  bigint not null default 0,
  opens       integer not null default 0,
  created_at  timestamptz not null default now(),
  started_at  timestamptz,
  discovered_at timestamptz,
  indexed_at  timestamptz,
  first_cover_at timestamptz,
  last_cover_at  timestamptz,
  first_hash_at  timestamptz,
  last_hash_at   timestamptz,
  finished_at timestamptz,
  constraint scan_mode_known check (mode in ('normal', 'deep')),
  constraint scan_state_known check (state in
    ('queued', 'running', 'completed', 'failed', 'cancelled', 'unavailable', 'unconfirmed'))
);
create index scan_of_library on scan (library_id, created_at desc);
create index scan_active on scan (library_id) where state in ('queued', 'running');

-- A file on disk that the catalogue does not know yet, or knows otherwise.
create table found (
  id           bigint generated always as identity primary key,
  library_id   uuid not null references library on delete cascade,
  scan_id      uuid not null,
  directory_id uuid not null references directory on delete cascade,
  name         bytea not null,
  size         bigint not null,
  modified_ms  bigint not null,
  -- Deep mode: analyse even when size and fingerprint are the same.
  forced       boolean not null default false,
  constraint found_place_unique unique (directory_id, name)
);
create index found_in_library on found (library_id);

-- A catalogued book that the walk did not meet; decided at the end of the scan.
create table vanished (
  library_id uuid not null references library on delete cascade,
  scan_id    uuid not null,
  book_id    uuid not null references book on delete cascade,
  -- The folder whose listing lacked it; it keeps its old digest until the decision.
  directory_id uuid not null references directory on delete cascade,
  primary key (book_id)
);
create index vanished_in_library on vanished (library_id);

-- One line a book for a scan that is being followed (`scan --ndjson`); the follower deletes what it
-- has read, so the table stays small.
create table scan_record (
  id      bigint generated always as identity primary key,
  scan_id uuid not null references scan on delete cascade,
  record  jsonb not null
);
create index scan_record_of_scan on scan_record (scan_id, id);

-- Series that a scan changed; their titles and order are settled when its books are in.
create table touched_series (
  library_id uuid not null references library on delete cascade,
  series_id  uuid not null references series on delete cascade,
  primary key (library_id, series_id)
);
