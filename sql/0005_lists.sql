-- What lists, filters and searches read, and what users add to series and books.

alter table library
  add column description text,
  add column is_active boolean not null default true;

-- Text as conditions compare it: case- and accent-folded, as searchKey of lib/name/normalise.ts does.
create function folded(value text) returns text language sql immutable parallel safe as $$
  select case when octet_length(value) = length(value) then lower(value)
    else normalize(lower(regexp_replace(
      normalize(value, nfd), '[\u0300-\u036f]', '', 'g')), nfc) end
$$;

-- Genres and tags by name. A name is one label however it is written: `key` is folded
-- (lib/name/normalise.ts), `name` is as first met, `spellings` are all that books use.
create table label (
  id         uuid primary key,
  kind       text not null,
  key        text not null,
  name       text not null,
  spellings  text[] not null,
  created_at timestamptz not null default now(),
  constraint label_key_unique unique (kind, key),
  constraint label_kind_known check (kind in ('genre', 'tag'))
);

-- Which series have a label: by name among their own genres or tags (`is_own`), or only some of their
-- books. Conditions read this instead of the arrays: a list of ids is had from the index alone.
create table series_label (
  label_id  uuid not null references label on delete cascade,
  series_id uuid not null references series on delete cascade,
  is_own    boolean not null,
  primary key (label_id, series_id) include (is_own)
);
create index series_label_series on series_label (series_id, label_id) include (is_own);
-- Tells at once that a label is of whole series only.
create index series_label_partial on series_label (label_id) where not is_own;

alter table series
  -- All genres and tags of its books, as the books write them; `genres` and `tags` are the same in
  -- the labels' spelling until a user says otherwise.
  add column book_genres text[] not null default '{}',
  add column book_tags text[] not null default '{}',
  -- The folder's name as it sorts.
  add column name_key text collate "C" not null default '',
  add column custom_cover bytea;
update series set name_key = lower(name);
create index series_by_title on series (sort_key, id) include (library_id, book_count) where book_count > 0;
create index series_by_created on series (created_at, id) include (library_id) where book_count > 0;
create index series_by_updated on series (updated_at, id) include (library_id) where book_count > 0;
create index series_by_year on series (year nulls last, id) include (library_id) where book_count > 0;
create index series_by_year_down on series (year desc nulls last, id desc) include (library_id)
  where book_count > 0;
create index series_by_books on series (book_count, id) include (library_id) where book_count > 0;
create index series_by_size on series (size, id) include (library_id) where book_count > 0;
create index series_by_pages on series (page_count, id) include (library_id) where book_count > 0;
create index series_by_name on series (name_key, id) include (library_id) where book_count > 0;
create index series_in_library on series (library_id, sort_key, id) where book_count > 0;
-- What conditions ask of all series.
create index series_by_search_key on series (search_key, id) where book_count > 0;
create index series_by_status on series (status, id) where book_count > 0;
create index series_by_publisher on series (publisher, id) where book_count > 0;
create index series_by_language on series (language, id) where book_count > 0;
drop index series_sort;

alter table book
  -- yyyymmdd, months and days that are unknown being 00.
  add column released integer generated always as
    (year * 10000 + coalesce(month, 0) * 100 + coalesce(day, 0)) stored,
  add column custom_cover bytea;
-- One index a sort order; series_id lets a filtered walk stay within the index.
create index book_by_title on book (sort_key, id) include (series_id) where missing_at is null;
create index book_by_number on book (number_sort nulls last, id) include (series_id)
  where missing_at is null;
create index book_by_number_down on book (number_sort desc nulls last, id desc) include (series_id)
  where missing_at is null;
create index book_by_created on book (created_at, id) include (series_id) where missing_at is null;
create index book_by_updated on book (updated_at, id) include (series_id) where missing_at is null;
create index book_by_modified on book (modified_ms, id) include (series_id) where missing_at is null;
create index book_by_released on book (released nulls last, id) include (series_id)
  where missing_at is null;
create index book_by_released_down on book (released desc nulls last, id desc) include (series_id)
  where missing_at is null;
create index book_by_size on book (size, id) include (series_id) where missing_at is null;
create index book_by_pages on book (page_count, id) include (series_id) where missing_at is null;
create index book_by_name on book (name_key, id) include (series_id) where missing_at is null;
create index book_by_error on book (id) include (series_id)
  where error_code is not null and missing_at is null;
create index book_by_age on book (age_rating, series_id)
  where age_rating is not null and missing_at is null;

-- What searches look into (lib/catalog/search/search-text.ts), apart from the rows that scans rewrite.
create extension if not exists pg_trgm;
create table book_search (
  book_id    uuid primary key references book on delete cascade,
  -- As the book has them, so that counting and ranking ask nothing else.
  series_id  uuid not null,
  is_present boolean not null,
  sort_key   text collate "C" not null,
  text       text collate "C" not null
) with (fillfactor = 90);
create table series_search (
  series_id uuid primary key references series on delete cascade,
  text      text collate "C" not null
);
create index book_search_text on book_search using gin (text gin_trgm_ops);
create index series_search_text on series_search using gin (text gin_trgm_ops);

create function follow_book() returns trigger language plpgsql as $$
begin
  update book_search
  set series_id = new.series_id, is_present = new.missing_at is null, sort_key = new.sort_key
  where book_id = new.id;
  return null;
end $$;
create trigger book_search_follows after update of series_id, missing_at, sort_key on book
  for each row
  when ((old.series_id, old.missing_at is null, old.sort_key)
    is distinct from (new.series_id, new.missing_at is null, new.sort_key))
  execute function follow_book();

-- How far each account is in each series it began: over the present books. Moved by the statements
-- that move progress, settled at the end of a scan, checked by the doctor.
create table series_reading (
  account_id    uuid not null references account on delete cascade,
  series_id     uuid not null references series on delete cascade,
  -- Completed books, books begun and not completed, and those of them beyond their start.
  read_count    integer not null,
  started_count integer not null,
  opened_count  integer not null,
  last_read_at  timestamptz not null,
  last_completed_at timestamptz,
  primary key (account_id, series_id)
);
create index series_reading_recent on series_reading (account_id, last_read_at, series_id);
create index series_reading_completed on series_reading (account_id, last_completed_at, series_id)
  where read_count > 0 and started_count = 0;
create index series_reading_series on series_reading (series_id);

create index progress_recent on progress (account_id, updated_at, book_id);
create index progress_unfinished on progress (account_id, updated_at, book_id) where not is_completed;
create index progress_state on progress (account_id, book_id) include (is_completed, current_page);
alter table progress
  add column percentage double precision,
  add constraint progress_page_known check (current_page >= 0);

alter table series_external_id
  add column id uuid not null default gen_random_uuid(),
  add column created_at timestamptz not null default now(),
  add column updated_at timestamptz not null default now(),
  add constraint series_external_id_id_unique unique (id);
create table book_external_id (
  id          uuid primary key,
  book_id     uuid not null references book on delete cascade,
  source      text not null,
  external_id text not null,
  url         text,
  hash        text,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  constraint book_external_id_source_unique unique (book_id, source)
);
create index book_external_id_value on book_external_id (source, external_id);

create table series_link (
  id          uuid primary key,
  series_id   uuid not null references series on delete cascade,
  source      text not null,
  url         text not null,
  external_id text,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  constraint series_link_source_unique unique (series_id, source)
);
create table book_link (
  id          uuid primary key,
  book_id     uuid not null references book on delete cascade,
  source      text not null,
  url         text not null,
  external_id text,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  constraint book_link_source_unique unique (book_id, source)
);

-- Covers that users uploaded; `hash` names the thumbnail and the original in the data directory.
-- The chosen one's hash stands in custom_cover of its book or series.
create table cover (
  id          uuid primary key,
  book_id     uuid references book on delete cascade,
  series_id   uuid references series on delete cascade,
  source      text not null,
  hash        bytea not null,
  original    text not null,
  width       integer,
  height      integer,
  is_selected boolean not null default false,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  constraint cover_of_one check ((book_id is null) <> (series_id is null)),
  constraint cover_book_unique unique (book_id, hash),
  constraint cover_series_unique unique (series_id, hash)
);
create unique index cover_book_selected on cover (book_id) where is_selected;
create unique index cover_series_selected on cover (series_id) where is_selected;
