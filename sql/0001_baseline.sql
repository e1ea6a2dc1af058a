-- The schema of Stackroom: catalog, accounts, reading state, scans, events, coordination.
--
-- Conventions: tables are singular; timestamps end in `_at`; constraints are named, because their names
-- become messages. Paths and file names on disk are bytes (bytea), relative to the root of their
-- library, because file systems do not promise UTF-8. File times are whole milliseconds since 1970
-- (`modified_ms`). `sort_key` and `name_key` hold natural, case- and accent-folded keys
-- (lib/media/name/natural.ts) that sort by plain bytes, hence collate "C"; `search_key` is folded text.
-- Migrations after the first release are numbered files beside this one, forward only.

create extension if not exists pg_trgm;

-- Text as compared by conditions: case- and accent-folded, like searchKey in lib/media/name. European text
-- without its accents is ASCII, and composing it costs the most.
create function folded(value text) returns text language plpgsql immutable strict parallel safe as $$
declare
  plain text;
begin
  if octet_length(value) = length(value) then return lower(value); end if;
  plain := lower(regexp_replace(normalize(value, nfd), '[\u0300-\u036f]', '', 'g'));
  if octet_length(plain) = length(plain) then return plain; end if;
  return normalize(plain, nfc);
end $$;

-- Names of series as in other programs' lists: without punctuation, spaces and a leading article.
create function series_name_key(folded_name text) returns text language sql immutable parallel safe as $$
  select coalesce(nullif(regexp_replace(regexp_replace(replace(folded_name, '&', ' and '),
    '^\s*(the|a|an)\s+', ''), '[\s!-/:-@\[-`{-~\u2010-\u2027\u00b7]+', '', 'g'), ''), folded_name)
$$;

---------------------------------------------------------------------------------------------------
-- Libraries and folders

create table library (
  id                uuid primary key,
  name              text not null,
  description       text,
  root              bytea not null,
  -- st_dev of the root at the last scan: an unmounted root is on another device.
  device            text,
  is_active         boolean not null default true,
  series_strategy   text not null default 'series_volume',
  series_config     jsonb not null default '{}',
  book_strategy     text not null default 'metadata_first',
  book_config       jsonb not null default '{}',
  number_strategy   text not null default 'smart',
  -- Stored for clients; no number strategy has options yet.
  number_config     jsonb not null default '{}',
  -- A strategy was changed: the next scan regroups the books (pipeline/scan/regroup.ts) and reads their
  -- files.
  strategies_changed boolean not null default false,
  scanning_config   jsonb not null default '{}',
  default_reading_direction text not null default 'ltr',
  allowed_formats   text[],
  excluded_patterns text not null default '',
  -- Whether files that are symbolic links are read (lib/base/containment.ts).
  follow_links      boolean not null default false,
  title_preprocessing_rules jsonb not null default '[]',
  auto_match_conditions jsonb,
  hash_policy       text not null default 'full',
  -- Counters are updated by the transaction that changes the rows; `doctor` verifies them.
  series_count      integer not null default 0,
  book_count        integer not null default 0,
  missing_count     integer not null default 0,
  page_count        bigint not null default 0,
  size              bigint not null default 0,
  created_at        timestamptz not null default now(),
  updated_at        timestamptz not null default now(),
  last_scanned_at   timestamptz,
  -- When the schedule was last changed: slots before it do not count.
  schedule_changed_at timestamptz not null default now(),
  -- Removed by a user: hidden immediately, while a job deletes its rows in batches.
  deleting_at       timestamptz,
  constraint library_series_strategy_known check (series_strategy in
    ('series_volume', 'series_volume_chapter', 'flat', 'publisher_hierarchy', 'calibre', 'custom')),
  constraint library_book_strategy_known check (book_strategy in
    ('filename', 'metadata_first', 'smart', 'series_name', 'custom')),
  constraint library_number_strategy_known check (number_strategy in
    ('file_order', 'metadata', 'filename', 'smart')),
  constraint library_hash_policy_known check (hash_policy in ('full', 'candidates', 'off')),
  constraint library_direction_known
    check (default_reading_direction in ('ltr', 'rtl', 'ttb', 'webtoon')),
  constraint library_formats_known
    check (allowed_formats <@ array['cbz', 'cbr', 'cb7', 'cbt', 'epub', 'pdf'])
);
-- A path may be longer than an index row allows (2,704 bytes): uniqueness and lookups of long paths, and of
-- keys derived from paths, use a digest. The folder of a library being deleted is free for another one.
create unique index library_root_unique on library (sha256(root)) where deleting_at is null;

-- A folder seen by a scan. The digest covers the names, sizes and times of its files and the names of its
-- folders; an equal digest means that nothing at this level has changed.
create table directory (
  id             uuid primary key,
  library_id     uuid not null references library on delete cascade,
  parent_id      uuid,
  path           bytea not null,
  digest         bytea,
  -- Files with metadata and covers next to the books; when metadata changes, the folder's books are read
  -- again.
  sidecars       jsonb not null default '{}',
  -- The folder has changed: the end of the scan compares its covers with the displayed ones.
  artwork_due    boolean not null default false,
  -- The digest to adopt once the missing candidates of this folder are confirmed.
  pending_digest bytea,
  constraint directory_library_unique unique (id, library_id),
  constraint directory_parent_in_library foreign key (parent_id, library_id)
    references directory (id, library_id) on delete cascade
);
-- Short paths are indexed directly: a walk looks up neighbors, which are adjacent in this index.
create unique index directory_path_unique on directory (library_id, path) where length(path) <= 2000;
create unique index directory_long_path_unique on directory (library_id, sha256(path))
  where length(path) > 2000;
create index directory_parent on directory (parent_id);
create index directory_artwork_due on directory (library_id) where artwork_due;

-- How library folders are currently watched, as last reported by the process that watches them.
create table library_watch (
  library_id uuid primary key references library on delete cascade,
  mode       text not null,
  -- Why it is not watched as configured.
  message    text,
  since      timestamptz not null default now(),
  seen_at    timestamptz not null default now(),
  constraint library_watch_mode_known check (mode in ('watching', 'polling'))
);

---------------------------------------------------------------------------------------------------
-- Series and books

create table series (
  id          uuid primary key,
  library_id  uuid not null references library on delete cascade,
  -- Identity within the library, derived by the series strategy (lib/media/strategy/series.ts).
  key         text not null,
  -- The folder name as found; metadata never changes it.
  name        text not null,
  name_key    text collate "C" not null default '',
  folder      text,
  -- Compared by conditions: folding summaries of 40,000 series takes a second.
  folder_key  text generated always as (folded(folder)) stored,
  one_shot    boolean not null default false,
  title       text not null,
  title_sort  text,
  sort_key    text collate "C" not null,
  search_key  text not null,
  alternate_titles jsonb not null default '[]',
  authors     jsonb not null default '[]',
  -- The names of its authors and of its present books' authors, folded, each between line breaks.
  author_key  text collate "C" not null default '',
  -- Likewise with roles: name, tab, role.
  credit_key  text collate "C" not null default '',
  -- Likewise, unfolded, for lists of authors.
  credits     text not null default '',
  summary     text,
  summary_key text generated always as (folded(summary)) stored,
  publisher   text,
  imprint     text,
  genres      text[] not null default '{}',
  tags        text[] not null default '{}',
  -- All genres and tags of its books, as spelled there; `genres` and `tags` have the same, each label once,
  -- until a user edits them.
  book_genres text[] not null default '{}',
  book_tags   text[] not null default '{}',
  language    text,
  status      text not null default 'unknown',
  reading_direction text,
  age_rating  integer,
  year        integer,
  total_volume_count  integer,
  total_chapter_count double precision,
  -- JSON as it was sent.
  custom_metadata text,
  locks       text[] not null default '{}',
  provenance  jsonb not null default '{}',
  -- The book whose cover represents the series; null: the first one with a cover.
  cover_book_id uuid,
  -- Hash of the selected uploaded cover.
  custom_cover bytea,
  -- Time and name of the cover in the series folder, and its thumbnail, which is null if the file is
  -- unreadable.
  artwork     text,
  artwork_cover bytea,
  book_count  integer not null default 0,
  missing_count integer not null default 0,
  page_count  bigint not null default 0,
  size        bigint not null default 0,
  -- The lowest age that may see any of the series' present books; 0 with an unrated one. Saves lists for
  -- accounts with an age limit from reading books.
  lowest_age  integer not null default 0,
  -- The earliest `released` of its present books.
  released    integer,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  -- When a scan after the first one last added a book.
  grown_at    timestamptz,
  -- When the fields that books display of their series last changed; updated_at follows every counter.
  metadata_changed_at timestamptz,
  constraint series_library_unique unique (id, library_id),
  constraint series_status_known
    check (status in ('ongoing', 'ended', 'hiatus', 'abandoned', 'unknown')),
  constraint series_direction_known
    check (reading_direction in ('ltr', 'rtl', 'ttb', 'webtoon'))
);
-- md5 accepts text; sha256 would need a conversion that is not immutable.
create unique index series_key_unique on series (library_id, md5(key));
create index series_title_key on series (library_id, search_key);
create index series_by_name_key on series (series_name_key(search_key));
create index series_cover_book on series (cover_book_id) where cover_book_id is not null;
-- One index per sort order; included columns keep restricted lists within the index.
create index series_by_title on series (sort_key, id)
  include (library_id, book_count, age_rating, lowest_age) where book_count > 0;
create index series_by_created on series (created_at, id) include (library_id) where book_count > 0;
create index series_grown on series (grown_at, id) where grown_at is not null and book_count > 0;
create index series_by_updated on series (updated_at, id) include (library_id) where book_count > 0;
create index series_updated_in_library on series (library_id, updated_at, id) where book_count > 0;
create index series_by_year on series (year nulls last, id) include (library_id) where book_count > 0;
create index series_by_year_down on series (year desc nulls last, id desc) include (library_id)
  where book_count > 0;
create index series_by_released on series (released nulls last, id) include (library_id)
  where book_count > 0;
create index series_by_released_down on series (released desc nulls last, id desc)
  include (library_id) where book_count > 0;
create index series_by_books on series (book_count, id) include (library_id) where book_count > 0;
create index series_by_size on series (size, id) include (library_id) where book_count > 0;
create index series_by_pages on series (page_count, id) include (library_id) where book_count > 0;
create index series_by_name on series (name_key, id) include (library_id) where book_count > 0;
create index series_in_library on series (library_id, sort_key, id) where book_count > 0;
-- For conditions on all series.
create index series_by_search_key on series (search_key, id) where book_count > 0;
create index series_by_status on series (status, id) where book_count > 0;
create index series_by_publisher on series (publisher, id)
  include (library_id, age_rating, lowest_age) where book_count > 0;
create index series_publisher_key on series (folded(publisher), id) where book_count > 0;
-- There are few of them.
create index series_one_shot on series (id) where one_shot and book_count > 0;
create index series_unchanged on series (id)
  where date_trunc('second', updated_at at time zone 'UTC')
    = date_trunc('second', created_at at time zone 'UTC') and book_count > 0;
create index series_by_language on series (language, id) where book_count > 0;
create index series_empty on series (id) where book_count = 0;

create function stamp_series_metadata() returns trigger language plpgsql as $$
begin
  new.metadata_changed_at := now();
  return new;
end $$;
create trigger series_metadata_changed
  before update of title, publisher, language, reading_direction on series
  for each row when
    ((old.title, old.publisher, old.language, old.reading_direction)
      is distinct from (new.title, new.publisher, new.language, new.reading_direction))
  execute function stamp_series_metadata();

create table book (
  id           uuid primary key,
  -- No foreign key: the references to series and directory imply it.
  library_id   uuid not null,
  series_id    uuid not null,
  directory_id uuid not null,
  name         bytea not null,
  size         bigint not null,
  modified_ms  bigint not null,
  -- KOReader's partial MD5; together with the size it identifies moved and returning files.
  fingerprint  bytea,
  format       text,
  page_count   integer not null default 0,
  -- The media type of every page, if all pages are JPEG, all PNG or all GIF; for EPUB only with fixed layout
  -- and one image per page. Null: mixed, none, or not known yet.
  page_type    text,
  title        text not null,
  title_sort   text,
  sort_key     text collate "C" not null,
  search_key   text not null,
  -- Natural key of the file name: the order within a series if numbers do not decide.
  name_key     text collate "C" not null,
  number       text,
  number_sort  double precision,
  -- The volume, if it precedes the number in reading order (lib/catalog/derived/reading-order.ts).
  volume_sort  double precision,
  volume       double precision,
  chapter      double precision,
  -- The series as stated in the file; the actual grouping is series_id.
  embedded_series text,
  year         integer,
  month        smallint,
  day          smallint,
  -- yyyymmdd with 00 for an unknown month or day.
  released     integer generated always as
    (year * 10000 + coalesce(month, 0) * 100 + coalesce(day, 0)) stored,
  language     text,
  authors      jsonb not null default '[]',
  summary      text,
  publisher    text,
  imprint      text,
  genres       text[] not null default '{}',
  tags         text[] not null default '{}',
  isbn         text,
  age_rating   integer,
  reading_direction text,
  -- Fields that are displayed; lists filter by none of them but bookType.
  extra_metadata jsonb not null default '{}',
  provenance   jsonb not null default '{}',
  locks        text[] not null default '{}',
  warnings     text[] not null default '{}',
  error_code   text,
  error_message text,
  -- Hash of the selected uploaded cover.
  custom_cover bytea,
  -- The scan that last wrote the row; it may have been deleted since, so there is no foreign key.
  scan_id      uuid,
  missing_at   timestamptz,
  created_at   timestamptz not null default now(),
  updated_at   timestamptz not null default now(),
  constraint book_format_known check (format in ('cbz', 'cbr', 'cb7', 'cbt', 'epub', 'pdf')),
  constraint book_direction_known check (reading_direction in ('ltr', 'rtl', 'ttb', 'webtoon')),
  constraint book_error_known check (error_code in
    ('bad_crc', 'encrypted', 'internal', 'io', 'memory', 'multi_volume', 'no_pages', 'not_an_archive',
     'timeout', 'too_large', 'truncated', 'unsupported_format', 'unsupported_image',
     'unsupported_method'))
);
alter table series add constraint series_cover_book_exists
  foreign key (cover_book_id) references book on delete set null;
-- A missing book retains the location where it was last seen; another file may be stored there. Included
-- columns, here and below, let conditions on paths, titles and so on be decided within the index.
create unique index book_location_unique on book (directory_id, name) include (series_id, id)
  where missing_at is null;
create index book_missing_location on book (directory_id, name) where missing_at is not null;
-- For deleting a folder, which looks up its books: the indexes on locations are partial.
create index book_directory on book (directory_id);
create index book_identity on book (fingerprint, size);
-- KOReader identifies a document by its partial MD5, the fingerprint, or by the MD5 of its name.
create index book_name_md5 on book using hash (md5(name));
create index book_in_series on book (series_id, volume_sort, number_sort, name_key, id);
create index book_in_library on book (library_id, sort_key, id);
create index book_failed on book (library_id) where error_code is not null;
-- One index per sort order; series_id keeps a filtered walk within the index.
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
create index book_new_in_library on book (library_id, created_at, id) where missing_at is null;
create index book_released_in_library on book (library_id, released desc nulls last, id desc)
  where missing_at is null and released is not null;
-- For conditions: the books of a series, or all, with the columns compared most; then individual columns.
create index book_facts on book (series_id, id)
  include (search_key, page_count, created_at, format) where missing_at is null;
create index book_by_search_key on book (search_key text_pattern_ops) include (series_id, id)
  where missing_at is null;
create index book_sort_titled on book (search_key text_pattern_ops)
  include (series_id, id, title_sort) where title_sort is not null and missing_at is null;
create index book_by_format on book (format, series_id) include (id) where missing_at is null;
create index book_by_type on book ((extra_metadata->>'bookType'), series_id, id)
  where extra_metadata->>'bookType' is not null and missing_at is null;
-- Otherwise the planner could not estimate how many books have one, or how many file names match.
create statistics book_type on (extra_metadata->>'bookType') from book;
create statistics book_file_name on (lower(encode(name, 'escape') collate "C")) from book;
create index book_summarized on book (series_id, id) where summary is not null and missing_at is null;
-- Counts and finds what an age limit hides without reading a table row.
create index book_by_age on book (age_rating, series_id) include (id)
  where age_rating is not null and missing_at is null;
create index book_rated on book (library_id, age_rating, series_id)
  where age_rating is not null and missing_at is null;

-- The tables with a row for each book (book_artifact, book_pages, book_summary, book_search) are written
-- together with the book, and deleted by delete_book_rows: foreign keys took up to an eighth of the time a
-- scan needs to store books.

-- What the cover and hash stages derive from a file. Separate from `book`, whose row is wide and in 20
-- indexes: storing a cover or a hash there would rewrite all of them.
create table book_artifact (
  book_id     uuid primary key,
  sha256      bytea,
  -- Digest of the checksums in the archive's headers; null for a file without checksums.
  checks      bytea,
  -- Content-addressed thumbnail: the name of a file under the data directory.
  cover       bytea,
  cover_error text,
  -- Failed attempts to read the file or its cover: how many, with which program version, and when last.
  attempts      smallint not null default 0,
  tried_version text,
  tried_at      timestamptz,
  -- The ctime of a file that failed: it changes when a preallocated file is filled, while its modification
  -- time may not.
  changed_ms    bigint,
  -- Time and name of the image next to the book that the thumbnail was generated from.
  artwork       text
) with (fillfactor = 70);
create index book_artifact_sha256 on book_artifact (sha256) where sha256 is not null;
-- Due work (pipeline/finalize/due.ts): makes "is anything due?" free when nothing is.
create index book_artifact_due_cover on book_artifact (book_id)
  where cover is null and cover_error is null;
create index book_artifact_cover_error on book_artifact (book_id)
  where cover_error is not null and cover is null;
create index book_artifact_due_hash on book_artifact (book_id) where sha256 is null;

-- The pages of a book in a single row: deflated JSON of columns (lib/page/page-list.ts).
create table book_pages (
  book_id uuid primary key,
  pages   bytea not null
);

-- Ids in other services (`id`), links to pages about a series or book (`link`), and others' ratings of a
-- series (`rating`), one per source.
create table external_reference (
  id          uuid primary key default gen_random_uuid(),
  kind        text not null,
  series_id   uuid references series on delete cascade,
  book_id     uuid references book on delete cascade,
  source      text not null,
  external_id text,
  url         text,
  hash        text,
  -- From 0 to 100, and the number of votes it averages.
  rating      double precision,
  votes       integer,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  constraint external_reference_kind_known check (kind in ('id', 'link', 'rating')),
  constraint external_reference_of_one check (num_nonnulls(series_id, book_id) = 1),
  constraint external_reference_complete
    check (case kind when 'id' then external_id is not null when 'link' then url is not null
      else rating between 0 and 100 end),
  constraint external_reference_series_unique unique (series_id, kind, source),
  constraint external_reference_book_unique unique (book_id, kind, source)
);
create index external_reference_value on external_reference (source, external_id) where kind = 'id';
create index external_reference_rating on external_reference (series_id, rating)
  where kind = 'rating';

-- Uploaded covers; `hash` names the thumbnail and the original in the data directory. The selected one's hash
-- is copied to custom_cover of its book or series.
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
  -- Displayed in place of members' covers if selected.
  collection_id uuid,
  read_list_id  uuid,
  constraint cover_of_one check (num_nonnulls(series_id, book_id, collection_id, read_list_id) = 1),
  constraint cover_book_unique unique (book_id, hash),
  constraint cover_series_unique unique (series_id, hash),
  constraint cover_collection_unique unique (collection_id, hash),
  constraint cover_read_list_unique unique (read_list_id, hash)
);
create unique index cover_book_selected on cover (book_id) where is_selected;
create unique index cover_series_selected on cover (series_id) where is_selected;
create unique index cover_collection_selected on cover (collection_id) where is_selected;
create unique index cover_read_list_selected on cover (read_list_id) where is_selected;

-- Genres and tags by name. A name is one label however it is spelled: `key` is folded, `name` is as first
-- seen, `spellings` lists all spellings in books. The id is computed from kind and key, which makes them
-- unique: a second unique index would make concurrent inserts fail (`on conflict` has one arbiter).
create table label (
  id         uuid primary key,
  kind       text not null,
  key        text not null,
  name       text not null,
  spellings  text[] not null,
  created_at timestamptz not null default now(),
  constraint label_kind_known check (kind in ('genre', 'tag'))
);
create index label_key on label (kind, key);

-- Which series have a label: among their own genres or tags (`is_own`), or only on some of their books.
-- Conditions read this rather than the arrays: the index alone provides a list of ids.
create table series_label (
  label_id  uuid not null references label on delete cascade,
  series_id uuid not null references series on delete cascade,
  is_own    boolean not null,
  primary key (label_id, series_id) include (is_own)
);
create index series_label_series on series_label (series_id, label_id) include (is_own);
-- Shows immediately whether a label only belongs to whole series.
create index series_label_partial on series_label (label_id) where not is_own;

-- Summaries as compared by conditions: read in one pass, separate from the wide book rows.
create table book_summary (
  book_id    uuid primary key,
  -- Same as the book's.
  series_id  uuid not null,
  is_present boolean not null,
  key        text collate "C" not null
);

create function sync_book_summary() returns trigger language plpgsql as $$
begin
  if new.summary is null then
    delete from book_summary where book_id = new.id;
  else
    insert into book_summary (book_id, series_id, is_present, key)
    values (new.id, new.series_id, new.missing_at is null, folded(new.summary))
    on conflict (book_id) do update
    set series_id = excluded.series_id, is_present = excluded.is_present, key = excluded.key;
  end if;
  return null;
end $$;
create function add_book_summaries() returns trigger language plpgsql as $$
begin
  insert into book_summary (book_id, series_id, is_present, key)
  select id, series_id, missing_at is null, folded(summary) from added where summary is not null;
  return null;
end $$;
create trigger book_summary_added after insert on book referencing new table as added
  for each statement execute function add_book_summaries();
create trigger book_summary_sync after update of summary, series_id, missing_at on book
  for each row
  when ((old.summary, old.series_id, old.missing_at is null)
    is distinct from (new.summary, new.series_id, new.missing_at is null))
  execute function sync_book_summary();

-- What searches read (lib/catalog/search), separate from the rows that scans rewrite.
create table book_search (
  book_id    uuid primary key,
  -- Same as the book's, so that counting and ranking read nothing else.
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

create function sync_book_search() returns trigger language plpgsql as $$
begin
  update book_search
  set series_id = new.series_id, is_present = new.missing_at is null, sort_key = new.sort_key
  where book_id = new.id;
  return null;
end $$;
create trigger book_search_sync after update of series_id, missing_at, sort_key on book
  for each row
  when ((old.series_id, old.missing_at is null, old.sort_key)
    is distinct from (new.series_id, new.missing_at is null, new.sort_key))
  execute function sync_book_search();

-- Ensures that a book has a series and a directory in its library. Foreign keys would do the same, but check
-- row by row, which took a sixth of the time PostgreSQL needs to store a batch of books. Like foreign keys,
-- these checks lock the rows they find.
create function check_book_places() returns trigger language plpgsql as $$
begin
  perform from series where id = any(array(select distinct series_id from stored))
    order by id for key share;
  perform from directory where id = any(array(select distinct directory_id from stored))
    order by id for key share;
  if exists (
    select from (select distinct series_id, directory_id, library_id from stored) b
    where not exists (select from series s where s.id = b.series_id and s.library_id = b.library_id)
      or not exists (
        select from directory d where d.id = b.directory_id and d.library_id = b.library_id))
  then
    raise foreign_key_violation using
      message = 'A book has a series and a directory of its library',
      table = 'book', constraint = 'book_places_in_library';
  end if;
  return null;
end $$;
create trigger book_places_checked after insert on book referencing new table as stored
  for each statement execute function check_book_places();

create function check_moved_book() returns trigger language plpgsql as $$
begin
  perform from series where id = new.series_id and library_id = new.library_id for key share;
  if found then
    perform from directory
      where id = new.directory_id and library_id = new.library_id for key share;
  end if;
  if not found then
    raise foreign_key_violation using
      message = 'A book has a series and a directory of its library',
      table = 'book', constraint = 'book_places_in_library';
  end if;
  return null;
end $$;
create trigger book_move_checked after update of series_id, directory_id, library_id on book
  for each row
  when ((old.series_id, old.directory_id, old.library_id)
    is distinct from (new.series_id, new.directory_id, new.library_id))
  execute function check_moved_book();

create function check_no_books() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'series' and exists (
      select from book where series_id = any(array(select id from deleted)))
    or tg_table_name = 'directory' and exists (
      select from book where directory_id = any(array(select id from deleted)))
  then
    raise foreign_key_violation using
      message = format('A %s with books cannot be deleted', tg_table_name),
      table = 'book', constraint = 'book_places_in_library';
  end if;
  return null;
end $$;
create trigger series_without_books after delete on series referencing old table as deleted
  for each statement execute function check_no_books();
create trigger directory_without_books after delete on directory referencing old table as deleted
  for each statement execute function check_no_books();

create function delete_book_rows() returns trigger language plpgsql as $$
begin
  delete from book_artifact where book_id in (select id from deleted);
  delete from book_pages where book_id in (select id from deleted);
  delete from book_summary where book_id in (select id from deleted);
  delete from book_search where book_id in (select id from deleted);
  return null;
end $$;
create trigger book_rows_deleted after delete on book referencing old table as deleted
  for each statement execute function delete_book_rows();

-- Metadata of series, aggregated from their present books (lib/catalog/derived/books-metadata.ts), so that
-- pages of series read no books. Outdated while a series is in series_refresh.
create table series_books_metadata (
  series_id uuid not null references series on delete cascade,
  -- Aggregated from books without an age rating or with one up to this limit. One row for 0 and one for each
  -- rating.
  age_limit integer not null,
  metadata  jsonb not null,
  primary key (series_id, age_limit)
);

-- Groups of duplicate books (equal bytes) and of series that are probably the same.
create table duplicate_group (
  id         uuid primary key default gen_random_uuid(),
  kind       text not null,
  library_id uuid references library on delete cascade,
  -- SHA-256 in hex, `source:id`, or `library:normalized title`.
  key        text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint duplicate_group_key_unique unique (kind, key),
  constraint duplicate_group_kind_known check (kind in ('book', 'external_id', 'title'))
);
create table duplicate_book (
  group_id uuid not null references duplicate_group on delete cascade,
  book_id  uuid not null references book on delete cascade,
  primary key (group_id, book_id)
);
create index duplicate_book_member on duplicate_book (book_id);
create table duplicate_series (
  group_id  uuid not null references duplicate_group on delete cascade,
  series_id uuid not null references series on delete cascade,
  primary key (group_id, series_id)
);
create index duplicate_series_member on duplicate_series (series_id);

---------------------------------------------------------------------------------------------------
-- Metadata and release sources (lib/sources), and the release ledger (lib/releases).

-- Set up by an administrator: a feed, a mapping of a service, a dump, or a plugin (lib/sources).
create table source (
  id           uuid primary key,
  type         text not null,
  -- Permanent name in external ids and provenance; plugins are named `plugin:<name>`.
  name         text not null,
  display_name text not null,
  -- Depends on the type and is checked by lib/sources; contains no secrets.
  config       jsonb not null default '{}',
  -- Never displayed.
  credentials  jsonb not null default '{}',
  enabled      boolean not null default false,
  -- The last result of `describe`.
  description  jsonb,
  -- How series are matched with this source (lib/match).
  matching     jsonb not null default '{}',
  -- Consecutive failures; the source is not called until `retry_at`.
  failures     integer not null default 0,
  last_error   text,
  last_error_at timestamptz,
  retry_at     timestamptz,
  created_at   timestamptz not null default now(),
  -- When its settings last changed.
  updated_at   timestamptz not null default now(),
  constraint source_name_unique unique (name),
  constraint source_type_known check (type in ('preset', 'feed', 'http', 'dump', 'plugin')),
  constraint source_plugin_named check ((type = 'plugin') = starts_with(name, 'plugin:'))
);

-- The newest failures of each source.
create table source_failure (
  id         uuid primary key,
  source_id  uuid not null references source on delete cascade,
  operation  text not null,
  kind       text not null,
  message    text not null,
  created_at timestamptz not null default now()
);
create index source_failure_newest on source_failure (source_id, id desc);

-- A source's list of releases.
create table release_source (
  id            uuid primary key,
  source_id     uuid not null references source on delete cascade,
  key           text not null,
  kind          text not null,
  display_name  text not null,
  enabled       boolean not null default false,
  -- Null: the setting release_tracking.default_cron_schedule.
  cron_schedule text,
  schedule_changed_at timestamptz not null default now(),
  -- Where the next poll starts; written together with the releases already passed.
  cursor        jsonb,
  -- For lists read series by series: the last series that an unfinished poll has passed.
  poll_after    uuid,
  -- The latest poll to start: an older one that is still running stores nothing more.
  poll_id       uuid,
  last_polled_at timestamptz,
  last_error    text,
  last_error_at timestamptz,
  last_summary  text,
  config        jsonb not null default '{}',
  created_at    timestamptz not null default now(),
  updated_at    timestamptz not null default now(),
  constraint release_source_key_unique unique (source_id, key),
  constraint release_source_kind_known check (kind in
    ('rss-uploader', 'rss-series', 'api-feed', 'metadata-feed', 'metadata-piggyback'))
);

-- The result of matching a series with a metadata source, and which matches are due.
create table series_match (
  series_id   uuid not null references series on delete cascade,
  source_id   uuid not null references source on delete cascade,
  -- Null: nothing to do.
  due_at      timestamptz,
  -- A process is working on it; if that dies, it becomes due again at this time.
  claimed_until timestamptz,
  -- Applies even if the source's metadata has not changed.
  forced      boolean not null default false,
  attempts    integer not null default 0,
  outcome     text,
  message     text,
  external_id text,
  -- Relevance of the best search hit.
  relevance   double precision,
  matched_at  timestamptz,
  primary key (series_id, source_id)
);
create index series_match_due on series_match (source_id, due_at) where due_at is not null;

create table series_tracking (
  series_id   uuid primary key references series on delete cascade,
  tracked     boolean not null default false,
  track_chapters boolean not null default true,
  track_volumes  boolean not null default true,
  latest_known_chapter double precision,
  latest_known_volume  double precision,
  volume_chapter_map jsonb,
  poll_interval_override_s integer,
  confidence_threshold_override double precision,
  languages   text[],
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now()
);
create index series_tracked on series_tracking (series_id) where tracked;

create table series_alias (
  id         uuid primary key,
  series_id  uuid not null references series on delete cascade,
  alias      text not null,
  -- Normalized; used for matching releases.
  alias_key  text collate "C" not null,
  source     text not null default 'manual',
  created_at timestamptz not null default now(),
  constraint series_alias_unique unique (series_id, alias)
);
create index series_alias_key on series_alias (alias_key, series_id);

---------------------------------------------------------------------------------------------------
-- Collections of series and read lists of books, shared by all accounts. Members stay while their files are
-- missing; an account sees only the members visible to it (lib/organize/grouping).

create table collection (
  id         uuid primary key,
  name       text not null,
  name_key   text collate "C" not null,
  summary    text,
  is_ordered boolean not null default false,
  -- Condition that selects the series; null: hand-picked. Evaluated for the account that views it.
  rule       jsonb,
  created_at timestamptz not null default now(),
  -- Includes changes of members: accounts that do not see all of them get the other time.
  updated_at timestamptz not null default now(),
  settings_changed_at timestamptz not null default now(),
  constraint collection_rule_unordered check (rule is null or not is_ordered)
);
-- Not unique: an account must not learn the names of collections it does not see.
create index collection_lower_name on collection (lower(name));
create index collection_by_name on collection (name_key, id);
create index collection_ruled on collection (id) where rule is not null;

-- No index contains the position, so reordering rewrites no index.
create table collection_series (
  collection_id uuid not null references collection on delete cascade,
  series_id     uuid not null references series on delete cascade,
  position      integer not null,
  added_at      timestamptz not null default now(),
  primary key (collection_id, series_id)
) with (fillfactor = 70);
create index collection_series_member on collection_series (series_id, collection_id);

create table read_list (
  id         uuid primary key,
  name       text not null,
  name_key   text collate "C" not null,
  summary    text,
  is_ordered boolean not null default false,
  created_at timestamptz not null default now(),
  -- Includes changes of members: accounts that do not see all of them get the other time.
  updated_at timestamptz not null default now(),
  settings_changed_at timestamptz not null default now()
);
create index read_list_lower_name on read_list (lower(name));
create index read_list_by_name on read_list (name_key, id);

create table read_list_book (
  read_list_id uuid not null references read_list on delete cascade,
  book_id      uuid not null references book on delete cascade,
  position     integer not null,
  added_at     timestamptz not null default now(),
  -- Copied from the book by triggers, so that reading lists' visibility is decided without reading their
  -- books.
  series_id    uuid not null,
  age_rating   integer,
  is_present   boolean not null,
  primary key (read_list_id, book_id)
) with (fillfactor = 70);
create index read_list_book_member on read_list_book (book_id, read_list_id);
-- The lock makes a concurrent change of the book wait until it finds the new row.
create function copy_book_to_read_list() returns trigger language plpgsql as $$
begin
  select b.series_id, b.age_rating, b.missing_at is null
  into new.series_id, new.age_rating, new.is_present
  from book b where b.id = new.book_id for share;
  return new;
end $$;
create trigger read_list_book_copied before insert on read_list_book
  for each row execute function copy_book_to_read_list();
create function copy_book_to_read_lists() returns trigger language plpgsql as $$
begin
  update read_list_book set series_id = new.series_id, age_rating = new.age_rating,
    is_present = new.missing_at is null
  where book_id = new.id;
  return null;
end $$;
create trigger book_copied_to_read_lists after update of series_id, age_rating, missing_at on book
  for each row when (old.series_id <> new.series_id or old.age_rating is distinct from new.age_rating
    or (old.missing_at is null) <> (new.missing_at is null))
  execute function copy_book_to_read_lists();

alter table cover add foreign key (collection_id) references collection on delete cascade;
alter table cover add foreign key (read_list_id) references read_list on delete cascade;

---------------------------------------------------------------------------------------------------
-- Accounts, sessions, permissions

create table account (
  id            uuid primary key,
  username      text not null,
  email         text,
  password_hash text not null,
  role          text not null default 'reader',
  -- Names from lib/accounts/permission.ts in addition to the role's.
  permissions   text[] not null default '{}',
  is_active     boolean not null default true,
  email_verified boolean not null default true,
  -- False: only the libraries in account_library.
  all_libraries boolean not null default true,
  -- Highest visible age rating in years; null: no limit.
  age_limit     integer,
  -- Whether books without an age rating are visible to an account with a limit.
  shows_unrated boolean not null default true,
  last_login_at timestamptz,
  created_at    timestamptz not null default now(),
  updated_at    timestamptz not null default now(),
  constraint account_role_known check (role in ('reader', 'maintainer', 'admin')),
  -- A sign-in name or e-mail address must identify a single account: no name is another's address.
  constraint account_username_no_address
    check (position('@' in username) = 0 or lower(username) = lower(coalesce(email, '')))
);
create unique index account_username_unique on account (lower(username));
create unique index account_email_unique on account (lower(email));

create table account_library (
  account_id uuid not null references account on delete cascade,
  library_id uuid not null references library on delete cascade,
  primary key (account_id, library_id)
);
create index account_library_library on account_library (library_id);

-- One sign-in: its access tokens refer to it, and its refresh tokens replace one another.
create table session (
  id           uuid primary key,
  account_id   uuid not null references account on delete cascade,
  created_at   timestamptz not null default now(),
  used_at      timestamptz not null default now(),
  expires_at   timestamptz not null,
  revoked_at   timestamptz,
  -- Network it was started from, as used by the rate limit; null if unknown.
  address      text
);
create index session_account on session (account_id);
create index session_expiry on session (expires_at);

-- A used token stays until its session ends: presenting it again proves that it was copied.
create table refresh_token (
  sha256     bytea primary key,
  session_id uuid not null references session on delete cascade,
  created_at timestamptz not null default clock_timestamp(),
  used_at    timestamptz
);
create index refresh_token_session on refresh_token (session_id);

create table api_key (
  id           uuid primary key,
  account_id   uuid not null references account on delete cascade,
  name         text not null,
  -- The public part, `stackroom_<16 hex>`.
  prefix       text not null,
  secret_sha256 bytea not null,
  -- Hash of the key's MD5, which KOReader sends.
  koreader_sha256 bytea,
  permissions  text[] not null,
  is_active    boolean not null default true,
  expires_at   timestamptz,
  last_used_at timestamptz,
  created_at   timestamptz not null default now(),
  updated_at   timestamptz not null default now(),
  constraint api_key_prefix_unique unique (prefix),
  constraint api_key_koreader_unique unique (koreader_sha256)
);
create index api_key_account on api_key (account_id, created_at);

-- Held by an app of the compatible API in place of the credentials it signed in with.
create table client_session (
  sha256     bytea primary key,
  session_id uuid not null references session on delete cascade,
  -- The key it was started with, whose permissions it has; null for a password or an access token.
  api_key_id uuid references api_key on delete cascade,
  used_at    timestamptz not null default now(),
  expires_at timestamptz not null
);
create index client_session_session on client_session (session_id);
create index client_session_api_key on client_session (api_key_id);
create index client_session_expiry on client_session (expires_at);

create table email_verification (
  sha256     bytea primary key,
  account_id uuid not null references account on delete cascade,
  -- The account's new address; null to confirm the current one.
  email      text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index email_verification_account on email_verification (account_id);

-- Labels that an administrator assigns to series for use in accounts' rules.
create table sharing_tag (
  id          uuid primary key,
  name        text not null,
  description text,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now()
);
create unique index sharing_tag_name_unique on sharing_tag (lower(name));

create table series_sharing_tag (
  series_id  uuid not null references series on delete cascade,
  tag_id     uuid not null references sharing_tag on delete cascade,
  created_at timestamptz not null default now(),
  primary key (series_id, tag_id)
);
create index series_sharing_tag_tag on series_sharing_tag (tag_id);

create table account_sharing_tag (
  id         uuid primary key,
  account_id uuid not null references account on delete cascade,
  tag_id     uuid not null references sharing_tag on delete cascade,
  mode       text not null,
  created_at timestamptz not null default now(),
  constraint account_sharing_tag_unique unique (account_id, tag_id),
  constraint account_sharing_tag_mode_known check (mode in ('allow', 'deny'))
);
create index account_sharing_tag_tag on account_sharing_tag (tag_id);

create table preference (
  account_id uuid not null references account on delete cascade,
  key        text not null,
  value      jsonb not null,
  updated_at timestamptz not null default now(),
  primary key (account_id, key)
);

-- Runtime settings, and what the server stores about itself (for example the setup token's hash).
create table setting (
  key        text primary key,
  value      jsonb not null,
  version    integer not null default 1,
  updated_by uuid references account on delete set null,
  updated_at timestamptz not null default now()
);

create table setting_change (
  id         uuid primary key,
  key        text not null,
  old_value  jsonb,
  new_value  jsonb,
  account_id uuid references account on delete set null,
  -- The name at that time, in case the account is deleted.
  username   text,
  reason     text,
  address    text,
  changed_at timestamptz not null default now()
);
create index setting_change_key on setting_change (key, changed_at desc, id desc);

-- Data stored by apps of the compatible API: for all users (without an account), and for each one.
create table client_setting (
  account_id uuid references account on delete cascade,
  key        text not null,
  value      text not null,
  -- Readable before signing in.
  is_public  boolean not null
);
create unique index client_setting_unique on client_setting
  (coalesce(account_id, '00000000-0000-0000-0000-000000000000'), key);

---------------------------------------------------------------------------------------------------
-- Reading state

-- The devices that an account reads with, by the name a client assigns to its device or one derived from its
-- credentials (lib/http/client/device.ts).
create table reading_device (
  id         integer generated always as identity primary key,
  account_id uuid not null references account on delete cascade,
  key        text not null,
  name       text,
  constraint reading_device_unique unique (account_id, key)
);

-- The ledger of reading: what every client reported, by time of reading. Position, passes and statistics are
-- functions of these rows, in any order of arrival (lib/reading). There is no reference to the book,
-- because history outlives it.
create table reading_session (
  account_id   uuid not null references account on delete cascade,
  -- Assigned by the client for a measured session, otherwise by the server.
  id           uuid not null,
  book_id      uuid not null,
  -- Reading sessions are `progress` and `completed`, depending on their newest position; the others change
  -- the pass.
  kind         text not null,
  surface      text not null,
  -- Refers to reading_device; null if it does not come from a device.
  device       integer,
  started_at   timestamptz not null,
  ended_at     timestamptz not null,
  recorded_at  timestamptz not null default now(),
  -- Sent by a client that recorded the session; others are built from single positions.
  is_session   boolean not null default false,
  measured_ms  bigint,
  inferred_ms  bigint,
  pages_read   integer,
  -- Positions next to a measured session of their device are part of it rather than a separate session.
  is_part      boolean not null default false,
  page         integer,
  percentage   double precision,
  -- When the beginning of the book was read, and when its end: passes are derived from these.
  restarted_at timestamptz[] not null default '{}',
  completed_at timestamptz[] not null default '{}',
  -- For old sessions merged into this one (lib/reading/retention.ts): how many there were, and how many of
  -- them had no duration and no pages. Null for a single one.
  sittings     integer,
  unmeasured   integer,
  unpaged      integer,
  primary key (account_id, id),
  constraint reading_session_kind_known
    check (kind in ('progress', 'completed', 'read', 'reset', 'forget', 'baseline')),
  constraint reading_session_ordered check (started_at <= ended_at)
);
create index reading_session_book on reading_session (account_id, book_id, ended_at);
-- Covers an account's statistics.
create index reading_session_time on reading_session (account_id, started_at)
  include (book_id, device, measured_ms, inferred_ms, pages_read, is_part, ended_at, sittings,
    unmeasured, unpaged)
  where kind in ('progress', 'completed');

-- Completed passes through a book: the history displayed to readers, derived from the ledger.
create table reading_pass (
  account_id   uuid not null references account on delete cascade,
  book_id      uuid not null,
  started_at   timestamptz not null,
  completed_at timestamptz not null,
  device       integer,
  primary key (account_id, book_id, completed_at)
);
create index reading_pass_time on reading_pass (account_id, completed_at) include (book_id, device);

-- Progress refers to the book's id, which survives moves, absence and return. The position is the newest one
-- in the ledger.
create table progress (
  account_id   uuid not null references account on delete cascade,
  book_id      uuid not null references book on delete cascade,
  current_page integer not null,
  percentage   double precision,
  is_completed boolean not null default false,
  started_at   timestamptz not null default now(),
  updated_at   timestamptz not null default now(),
  completed_at timestamptz,
  -- When the current pass was first completed, even while an earlier page is read again.
  finished_at  timestamptz,
  -- The write that the position comes from: of two at the same time, the one with the greater id is newer.
  position_id  uuid,
  primary key (account_id, book_id),
  constraint progress_page_known check (current_page >= 0)
);
create index progress_book on progress (book_id);
create index progress_recent on progress (account_id, updated_at, book_id);
create index progress_unfinished on progress (account_id, updated_at, book_id) where not is_completed;
create index progress_state on progress (account_id, book_id) include (is_completed, current_page);

-- How far each account has read each series it started, over the present books. Updated by the statements
-- that write progress and at the end of a scan; verified by the doctor.
create table series_reading (
  account_id    uuid not null references account on delete cascade,
  series_id     uuid not null references series on delete cascade,
  -- Completed books, started but uncompleted books, and those of the latter beyond their first page.
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

-- A position as written by a reading app (`locator` is a Readium locator), stored with the progress derived
-- from it.
create table book_locator (
  account_id  uuid not null references account on delete cascade,
  book_id     uuid not null references book on delete cascade,
  -- Valid as long as it matches the progress.
  position_id uuid not null,
  modified_at timestamptz not null,
  -- As written by the apps, preserving member order.
  device      json not null,
  locator     json,
  koreader    json,
  primary key (account_id, book_id)
);
create index book_locator_book on book_locator (book_id);

-- Positions that KOReader wrote for documents that are not (yet) a known book, by the document's partial MD5
-- or the MD5 of its file name.
create table koreader_document (
  account_id uuid not null references account on delete cascade,
  document   text not null,
  digest     bytea generated always as (
    case when document ~ '^[0-9a-f]{32}$' then decode(document, 'hex') end) stored,
  progress   text not null,
  percentage double precision not null,
  device     text not null,
  device_id  text not null,
  updated_at timestamptz not null,
  primary key (account_id, document)
);
create index koreader_document_age on koreader_document (account_id, updated_at);

-- Pages that an app fetched recently, for accounts whose progress follows page streaming: clients fetch
-- ahead, so not everything fetched was read (lib/protocols/opds/stream-progress.ts).
create unlogged table page_stream (
  account_id uuid not null references account on delete cascade,
  book_id    uuid not null references book on delete cascade,
  state      jsonb not null,
  updated_at timestamptz not null,
  primary key (account_id, book_id)
);
create index page_stream_age on page_stream (updated_at);

---------------------------------------------------------------------------------------------------
-- What accounts organize for themselves. All rows are visible to their account only.

-- Series and books that an account wants to read, in the account's order.
create table want_to_read (
  id         uuid primary key,
  account_id uuid not null references account on delete cascade,
  series_id  uuid references series on delete cascade,
  book_id    uuid references book on delete cascade,
  position   integer not null,
  added_at   timestamptz not null default now(),
  constraint want_to_read_of_one check (num_nonnulls(series_id, book_id) = 1),
  constraint want_to_read_series_unique unique (account_id, series_id),
  constraint want_to_read_book_unique unique (account_id, book_id)
);
create index want_to_read_series on want_to_read (series_id) where series_id is not null;
create index want_to_read_book on want_to_read (book_id) where book_id is not null;

create table user_rating (
  id         uuid primary key,
  account_id uuid not null references account on delete cascade,
  series_id  uuid not null references series on delete cascade,
  rating     integer not null,
  notes      text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint user_rating_unique unique (account_id, series_id) include (rating),
  constraint user_rating_known check (rating between 1 and 100)
);
-- For the mean of all accounts, and sorting by it.
create index user_rating_series on user_rating (series_id) include (rating);
create index user_rating_recent on user_rating (account_id, updated_at, id);

-- Filters saved by an account.
create table filter_preset (
  id         uuid primary key,
  account_id uuid not null references account on delete cascade,
  name       text not null,
  scope      text not null,
  target     text not null,
  condition  jsonb,
  query      text,
  sort       text,
  -- Null: all libraries.
  library_id uuid references library on delete cascade,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint filter_preset_scope_known check (scope in ('list', 'search')),
  constraint filter_preset_target_known check (target in ('series', 'books'))
);
create unique index filter_preset_name_unique
  on filter_preset (account_id, scope, target, lower(name));
create index filter_preset_library on filter_preset (library_id) where library_id is not null;

---------------------------------------------------------------------------------------------------
-- Scans. A scan may be killed at any moment: what it found but did not process is in `pending_file` and
-- `missing_candidate`, written in the transaction that stored the folder's digest.

create table scan (
  id          uuid primary key,
  -- The order of scans, whose times may go backward with the clock.
  number      bigint generated always as identity,
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
  -- Files that were opened and found unchanged (only their time differed).
  unchanged   integer not null default 0,
  series_added integer not null default 0,
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
  -- The process that last ran it.
  host        text,
  pid         integer,
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
create index scan_of_library on scan (library_id, number desc);
create index scan_active on scan (library_id) where state in ('queued', 'running');
create index scan_age on scan (finished_at) where finished_at is not null;

-- A file on disk that is new or differs from its book, waiting to be read.
create table pending_file (
  id           bigint generated always as identity primary key,
  library_id   uuid not null,
  directory_id uuid not null,
  name         bytea not null,
  size         bigint not null,
  modified_ms  bigint not null,
  -- Deep mode: analyze even if size and fingerprint are unchanged.
  forced       boolean not null default false,
  -- How many index jobs were enqueued for the file; 0: requested while a scan is running, which will enqueue
  -- it.
  attempts     smallint not null default 1,
  constraint pending_file_location_unique unique (directory_id, name),
  constraint pending_file_directory_in_library foreign key (directory_id, library_id)
    references directory (id, library_id) on delete cascade
);
create index pending_file_in_library on pending_file (library_id);

-- A cataloged book that the walk did not find; decided at the end of the scan.
create table missing_candidate (
  book_id      uuid primary key references book on delete cascade,
  library_id   uuid not null references library on delete cascade,
  -- The folder whose listing lacked it; it retains its old digest until the decision.
  directory_id uuid not null references directory on delete cascade
);
create index missing_candidate_in_library on missing_candidate (library_id);

-- One record per book of a scan that is being followed (`scan --ndjson`); the follower deletes what it has
-- read, so the table stays small.
create table scan_record (
  id      bigint generated always as identity primary key,
  scan_id uuid not null references scan on delete cascade,
  record  jsonb not null
);
create index scan_record_of_scan on scan_record (scan_id, id);

-- Series changed by a scan; titles, order and derived rows are refreshed once the scan's books are stored.
create table series_refresh (
  library_id uuid not null references library on delete cascade,
  series_id  uuid not null references series on delete cascade,
  -- The library's title rules are to be applied again.
  retitle    boolean not null default false,
  primary key (library_id, series_id)
);
create index series_refresh_series on series_refresh (series_id);

---------------------------------------------------------------------------------------------------
-- Events, schedules, shared limits

-- A row represents events of one type in one library: for the books in `book_ids` (with their series at the
-- same index of `series_ids`), else for the series in `series_ids`, else for the library itself. Written in
-- the transaction of the change; readers follow `number`.
create table event (
  id         bigint generated always as identity primary key,
  -- Number of its last event; the first is number - count + 1. Assigned at commit, in commit order, so that a
  -- reader at a number has missed nothing below it.
  number     bigint,
  stream     text not null default 'entity',
  type       text not null,
  count      integer not null,
  library_id uuid,
  series_ids uuid[],
  book_ids   uuid[],
  -- What changed; null: anything may have.
  fields     text[],
  -- If set, only this account receives it.
  account_id uuid,
  -- For tasks and scans: the whole message except its time. For collections and read lists: the id. For
  -- releases: each of the events.
  data       jsonb,
  -- Determines whether a viewer could see an object that is gone (lib/store/event/audience.ts).
  audience   jsonb,
  created_at timestamptz not null default clock_timestamp(),
  constraint event_stream_known check (stream in ('entity', 'task', 'scan'))
);
create unique index event_number on event (number);
create sequence event_number_sequence;
-- Start time of the PostgreSQL server that assigned the last number. A crashed server may lose its last
-- commits, and with them numbers that clients have seen: the next number starts far above them.
-- Scheduled backups, failed ones too: what they wrote lies in the folder backup.dir.
create table backup (
  id uuid primary key,
  file text not null,
  started_at timestamptz not null default now(),
  ended_at timestamptz,
  bytes bigint,
  error text
);

create table event_server (started_at timestamptz not null);
insert into event_server values (pg_postmaster_start_time());

create function number_event() returns trigger language plpgsql as $$
declare
  last bigint;
begin
  -- Held until the commit is done; NOTIFY serialises commits in any case.
  perform pg_advisory_xact_lock(hashtext('stackroom.event'));
  if (select started_at from event_server) <> pg_postmaster_start_time() then
    update event_server set started_at = pg_postmaster_start_time();
    perform setval('event_number_sequence', nextval('event_number_sequence') + 100000);
  end if;
  last := setval('event_number_sequence', nextval('event_number_sequence') + new.count - 1);
  -- The time as well: rows age in the order of their numbers, however long their transactions took.
  update event set number = last, created_at = clock_timestamp() where id = new.id;
  perform pg_notify('event', last::text);
  return null;
end $$;
create constraint trigger event_numbered after insert on event
  deferrable initially deferred for each row execute function number_event();

-- A schedule slot claimed by a process; a second process finds it claimed.
create table schedule_slot (
  job        text not null,
  slot       timestamptz not null,
  claimed_at timestamptz not null default now(),
  primary key (job, slot)
);
create index schedule_slot_age on schedule_slot (slot);

create function stamp_schedule() returns trigger language plpgsql as $$
begin
  new.schedule_changed_at := now();
  return new;
end $$;
create trigger library_schedule_stamp before update of scanning_config, is_active on library
  for each row when
    ((old.scanning_config, old.is_active) is distinct from (new.scanning_config, new.is_active))
  execute function stamp_schedule();
create trigger release_source_schedule_stamp before update of enabled, cron_schedule on release_source
  for each row when
    ((old.enabled, old.cron_schedule) is distinct from (new.enabled, new.cron_schedule))
  execute function stamp_schedule();

---------------------------------------------------------------------------------------------------
-- The release ledger: what sources announced for tracked series, each release once.
create table release (
  id          uuid primary key,
  source_id   uuid not null references release_source on delete cascade,
  -- Lists decide visibility by the tracked series, which are fewer.
  series_id   uuid not null references series_tracking on delete cascade,
  external_release_id text not null,
  state       text not null,
  payload_url text not null,
  media_url   text,
  media_url_kind text,
  info_hash   text,
  group_or_uploader text,
  language    text,
  -- Spans `{start, end}`, sorted; series are sorted by the last end.
  chapters    jsonb,
  volumes     jsonb,
  last_chapter double precision generated always as ((chapters->-1->>'end')::double precision) stored,
  last_volume  double precision generated always as ((volumes->-1->>'end')::double precision) stored,
  format_hints jsonb not null default '{}',
  metadata    jsonb not null default '{}',
  confidence  double precision not null,
  released_at timestamptz,
  observed_at timestamptz not null default now(),
  -- Sort key: a release without a date is placed where it was found.
  dated_at    timestamptz generated always as (coalesce(released_at, observed_at)) stored,
  created_at  timestamptz not null default now(),
  constraint release_state_known check (state in
    ('announced', 'dismissed', 'marked_acquired', 'hidden')),
  constraint release_media_complete check ((media_url is null) = (media_url_kind is null))
);
-- An id may be longer than an index row allows.
create unique index release_external_unique on release (source_id, md5(external_release_id));
create unique index release_info_hash_unique on release (info_hash) where info_hash is not null;
create index release_in_series on release (series_id, state);
-- Lists and counts are decided within these indexes.
create index release_facts on release (state, series_id, language, source_id);
create index release_by_observed on release (observed_at, id)
  include (state, series_id, language, source_id);
create index release_by_date on release (dated_at, id)
  include (state, series_id, language, source_id);

-- Series whose releases are in the inbox of an account.
create table series_follow (
  account_id  uuid not null references account on delete cascade,
  series_id   uuid not null references series on delete cascade,
  followed_at timestamptz not null default now(),
  primary key (account_id, series_id)
);
create index series_follow_series on series_follow (series_id);

-- What an account did with a release; the state of the release is shared by all.
create table release_mark (
  account_id   uuid not null references account on delete cascade,
  release_id   uuid not null references release on delete cascade,
  seen_at      timestamptz not null default now(),
  dismissed_at timestamptz,
  primary key (account_id, release_id)
);
create index release_mark_release on release_mark (release_id);

-- Every state of a release: who set it (null: the server), when and why.
create table release_change (
  id         bigint generated always as identity primary key,
  release_id uuid not null references release on delete cascade,
  -- Null: it was added to the ledger.
  from_state text,
  to_state   text not null,
  account_id uuid references account on delete set null,
  reason     text not null,
  -- For the first one: how the series was found.
  details    jsonb,
  created_at timestamptz not null default now(),
  constraint release_change_reason_known check (reason in
    ('announced', 'owned', 'not_tracked', 'request', 'scan'))
);
create index release_change_of on release_change (release_id, id);
create index release_change_account on release_change (account_id) where account_id is not null;

-- Token buckets of the rate limiter, shared by all processes. Unlogged: losing them in a crash is harmless.
create unlogged table rate_bucket (
  key        text primary key,
  tokens     double precision not null,
  -- Tokens granted to the process that last requested some.
  granted    double precision not null,
  updated_at timestamptz not null
);
create index rate_bucket_age on rate_bucket (updated_at);

---------------------------------------------------------------------------------------------------
-- What a write makes stale: lists in memory, counts of groupings, and what processes remember of accounts and schedules.

-- Rows for each statement that changed what lists are made of. Their sum for a subject is the version of its lists
-- (lib/list/list-version.ts): writers do not wait for each other, and a reader sees it change exactly when it sees the
-- rows changed. Readers combine them.
create table list_change (
  subject text not null,
  count   bigint not null,
  -- The books that changed, and the series that changed with all of their books. Null in both: any may have changed.
  books   uuid[],
  series  uuid[],
  -- Null for a row that stands for others.
  transaction_id xid8 default pg_current_xact_id(),
  changed_at timestamptz not null default clock_timestamp()
);
-- Ids hardly compress.
alter table list_change alter books set storage external, alter series set storage external;

-- The same for what an account has read, wants to read and has rated. Without a reference to the account:
-- deleting one deletes its progress, which adds a row.
create table account_list_change (
  account_id uuid not null,
  count      bigint not null
);
create index account_list_change_account on account_list_change (account_id) include (count);

-- Inserting or deleting rows of `source`, or changing one of these columns of them (`*`: writing any), makes `stale` stale:
-- creates a function with static statements, whose plans are cached, and its triggers.
create function note_changes_of(
  source text, operations text, columns text, stale text, names text, id text
) returns void language plpgsql as $$
declare
  function constant text := concat_ws('_', 'note', source, 'changes', replace(stale, ' ', '_'));
  most constant integer := case when names in ('any', 'none') then 1 else 10000 end;
  few  constant text := format('case when cardinality(ids) <= %s then ids end', most);
  note constant text := case names
    when 'accounts' then
      'insert into account_list_change (account_id, count) select distinct named, 1 from (%s) c'
    when 'listeners' then format('perform pg_notify(%L, named::text) from (%%s) c', stale)
    else format('insert into list_change (subject, count, books, series)
      select unnest(string_to_array(%L, '' '')), 1, %s, %s
      from (select array_agg(named) as ids from (select distinct named from (%%s) c limit %s) d) c
      where ids is not null', stale,
      case names when 'books' then few when 'none' then quote_literal('{}') || '::uuid[]' else 'null' end,
      case names when 'series' then few else 'null' end, most + 1) end;
  changed constant text := format(case
    when columns = '*' then 'select %1$I as named from new_rows union all select %1$I from old_rows'
    else '(select %1$I as named, %2$s from new_rows except select %1$I, %2$s from old_rows)
      union all (select %1$I, %2$s from old_rows except select %1$I, %2$s from new_rows)' end, id, columns);
  operation text;
begin
  execute format('create function %I() returns trigger language plpgsql as %L', function, format(
    'begin if tg_op = ''INSERT'' then %s; elsif tg_op = ''DELETE'' then %s; else %s; end if; return null; end',
    format(note, format('select %I as named from new_rows', id)),
    format(note, format('select %I as named from old_rows', id)), format(note, changed)));
  foreach operation in array string_to_array(operations, ' ') loop
    execute format('create trigger %I after %s on %I referencing %s for each statement execute function %I()',
      concat_ws('_', source, operation, 'changes', replace(stale, ' ', '_')), operation, source,
      case operation when 'insert' then 'new table as new_rows' when 'delete' then 'old table as old_rows'
        else 'old table as old_rows new table as new_rows' end, function);
  end loop;
end $$;

-- The rules. `stale` are subjects of list_change, whose rows name the books or series that the column `id` has, `any` book or
-- series, or `none`; the lists of the `accounts` in that column; or a channel, on which its `listeners` get what the column has.
select note_changes_of(source, replace(operations, '*', 'insert update delete'), columns, stale, names, id)
from (values
  -- source, operations, columns of updates, stale, names, id
  ('book', '*', '*',                                        'book',              'books',     'id'),
  ('book_search', '*', 'text',                              'book',              'books',     'book_id'),
  ('directory', 'update', 'path',                           'book',              'any',       'id'),
  ('series', '*', '*',                                      'series',            'any',       'id'),
  -- What conditions on books test of their series, who sees them, and their order.
  ('series', '*', 'library_id, age_rating, lowest_age, sort_key, one_shot, credit_key, book_count = 0',
                                                            'book',              'series',    'id'),
  -- Searches for series, which for a viewer with an age limit depend on books, too.
  ('series_search', '*', 'text',                            'book series',       'none',      'series_id'),
  ('series_label', '*', '*',                                'book series',       'series',    'series_id'),
  ('series_sharing_tag', '*', '*',                          'book series',       'series',    'series_id'),
  ('sharing_tag', 'update', 'name',                         'series',            'any',       'id'),
  -- Spellings decide which books have a label; rows of series_label which series.
  ('label', '*', 'kind, key, name, spellings',              'book series label', 'none',      'id'),
  ('external_reference', '*', '*',                          'series',            'any',       'id'),
  ('series_tracking', '*', 'tracked',                       'series',            'any',       'series_id'),
  ('user_rating', '*', '*',                                 'rating',            'any',       'id'),
  ('collection_series', '*', 'series_id',                   'grouping',          'any',       'collection_id'),
  ('read_list_book', '*', 'book_id',                        'grouping',          'any',       'read_list_id'),
  ('user_rating', '*', '*',                                 'account',           'accounts',  'account_id'),
  ('progress', '*', '*',                                    'account',           'accounts',  'account_id'),
  ('series_reading', '*', '*',                              'account',           'accounts',  'account_id'),
  ('want_to_read', '*', '*',                                'account',           'accounts',  'account_id'),
  -- Identities, which every process remembers (lib/accounts/identify.ts).
  ('account', 'update delete', 'username, email, password_hash, role, permissions, is_active, email_verified, '
    'all_libraries, age_limit, shows_unrated',              'account',           'listeners', 'id'),
  ('session', 'update delete', 'id, revoked_at',            'account',           'listeners', 'account_id'),
  ('api_key', 'update delete', 'id, permissions, is_active, expires_at, secret_sha256',
                                                            'account',           'listeners', 'account_id'),
  ('account_library', '*', '*',                             'account',           'listeners', 'account_id'),
  ('account_sharing_tag', '*', '*',                         'account',           'listeners', 'account_id'),
  -- When libraries are scanned and watched, and sources polled.
  ('library', '*', 'scanning_config, is_active, deleting_at, root',
                                                            'schedule',          'listeners', 'id'),
  ('release_source', '*', 'enabled, cron_schedule',         'schedule',          'listeners', 'id'),
  ('source', 'update', 'enabled',                           'schedule',          'listeners', 'id')
) as rule(source, operations, columns, stale, names, id);
