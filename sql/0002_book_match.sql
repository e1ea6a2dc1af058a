-- Books are matched with metadata sources as series are, and a match can be undone.

-- Of an external id that a source gave: what its fields were before the source changed them, by field name.
alter table external_reference add column former jsonb;

-- As series_match, for books.
create table book_match (
  book_id     uuid not null references book on delete cascade,
  source_id   uuid not null references source on delete cascade,
  due_at      timestamptz,
  claimed_until timestamptz,
  forced      boolean not null default false,
  attempts    integer not null default 0,
  outcome     text,
  message     text,
  external_id text,
  relevance   double precision,
  matched_at  timestamptz,
  primary key (book_id, source_id)
);
create index book_match_due on book_match (source_id, due_at) where due_at is not null;

-- Results of a source, latest first.
create index book_match_latest on book_match (source_id, matched_at desc);
create index series_match_latest on series_match (source_id, matched_at desc);
