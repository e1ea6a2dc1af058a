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

-- What catalogues for reading apps browse by: publishers however they are written, what is new in
-- a library; and what is not there to be seen.
create index series_publisher_key on series (folded(publisher), id) where book_count > 0;
create index series_empty on series (id) where book_count = 0;
create index book_new_in_library on book (library_id, created_at, id) where missing_at is null;
-- What an age limit hides is counted and looked up without a row of a table.
drop index book_by_age;
create index book_by_age on book (age_rating, series_id) include (id)
  where age_rating is not null and missing_at is null;
drop index series_by_title;
create index series_by_title on series (sort_key, id) include (library_id, book_count, age_rating)
  where book_count > 0;
