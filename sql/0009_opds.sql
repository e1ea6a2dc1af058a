-- Reading apps: what pages are streamed as, and where readers of other protocols say that they are.

-- The media type of every page, where all pages are JPEG, PNG or GIF alike; of an EPUB only when its
-- layout is fixed, one image a page. Null: pages are mixed, or none, or not known yet.
alter table book add column page_type text;

-- A place as a reading app wrote it (Readium locator), beside the progress that was made of it.
create table book_locator (
  account_id  uuid not null references account on delete cascade,
  book_id     uuid not null references book on delete cascade,
  modified_at timestamptz not null,
  device      jsonb not null,
  locator     jsonb not null,
  primary key (account_id, book_id)
);
create index book_locator_book on book_locator (book_id);

-- Pages that an app fetched of late, for those who want that to move their place: clients fetch ahead,
-- so what was fetched is not what was read (lib/opds/stream-progress.ts).
create unlogged table page_stream (
  account_id uuid not null references account on delete cascade,
  book_id    uuid not null references book on delete cascade,
  state      jsonb not null,
  at         timestamptz not null,
  primary key (account_id, book_id)
);
create index page_stream_age on page_stream (at);
