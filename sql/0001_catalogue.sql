-- The catalogue: libraries, their folders, series and books.
-- Names and paths on disk are bytes (bytea), relative to the library root, because file systems do
-- not promise UTF-8. Times of files are whole milliseconds since 1970 (modified_ms), as compared by
-- discovery. `sort_key` columns hold natural, case- and accent-folded keys (lib/name/natural.ts)
-- that order by plain bytes, hence collate "C".

create table library (
  id                uuid primary key,
  name              text not null,
  root              bytea not null,
  -- st_dev of the root when it was last scanned: an unmounted root shows another device.
  device            text,
  series_strategy   text not null default 'series_volume',
  series_config     jsonb not null default '{}',
  book_strategy     text not null default 'metadata_first',
  book_config       jsonb not null default '{}',
  number_strategy   text not null default 'smart',
  scanning_config   jsonb not null default '{}',
  default_reading_direction text not null default 'ltr',
  allowed_formats   text[],
  excluded_patterns text not null default '',
  title_preprocessing_rules jsonb not null default '[]',
  auto_match_conditions jsonb,
  hash_policy       text not null default 'full',
  -- Counters are moved by the statement that moves the rows; `doctor` compares them.
  series_count      integer not null default 0,
  book_count        integer not null default 0,
  missing_count     integer not null default 0,
  page_count        bigint not null default 0,
  size              bigint not null default 0,
  created_at        timestamptz not null default now(),
  updated_at        timestamptz not null default now(),
  last_scanned_at   timestamptz,
  constraint library_hash_policy_known check (hash_policy in ('full', 'candidates', 'off')),
  constraint library_direction_known
    check (default_reading_direction in ('ltr', 'rtl', 'ttb', 'webtoon'))
);
-- A path may be longer than a row of an index (2,704 bytes): long paths, and keys made of paths, are
-- unique by digest, and looked up by it.
create unique index library_root_unique on library (sha256(root));

-- A folder met by a scan. The digest covers the names, sizes and times of its files and the names
-- of its folders; an equal digest means that nothing below this folder's own level changed.
create table directory (
  id             uuid primary key,
  library_id     uuid not null references library on delete cascade,
  parent_id      uuid references directory on delete cascade,
  path           bytea not null,
  digest         bytea,
  -- metadata.opf, series.json, cover.* beside the books; a change re-reads the books of the folder.
  sidecars       jsonb not null default '{}',
  -- The digest to take over once the files that vanished here are confirmed missing.
  pending_digest bytea
);
-- The short ones are found by themselves: a walk asks for neighbours, which lie together in this index.
create unique index directory_path_unique on directory (library_id, path) where length(path) <= 2000;
create unique index directory_long_path_unique on directory (library_id, sha256(path))
  where length(path) > 2000;
create index directory_parent on directory (parent_id);

create table series (
  id          uuid primary key,
  library_id  uuid not null references library on delete cascade,
  -- Identity inside the library, made by the series strategy (lib/strategy/series.ts).
  key         text not null,
  -- The folder name as found; metadata never changes it.
  name        text not null,
  folder      text,
  one_shot    boolean not null default false,
  title       text not null,
  title_sort  text,
  sort_key    text collate "C" not null,
  search_key  text not null,
  alternate_titles jsonb not null default '[]',
  authors     jsonb not null default '[]',
  summary     text,
  publisher   text,
  imprint     text,
  genres      text[] not null default '{}',
  tags        text[] not null default '{}',
  language    text,
  status      text not null default 'ongoing',
  reading_direction text,
  age_rating  integer,
  year        integer,
  total_volume_count  integer,
  total_chapter_count double precision,
  links       jsonb not null default '[]',
  ratings     jsonb not null default '[]',
  custom_metadata jsonb,
  locks       text[] not null default '{}',
  provenance  jsonb not null default '{}',
  cover_book_id uuid,
  book_count  integer not null default 0,
  missing_count integer not null default 0,
  page_count  bigint not null default 0,
  size        bigint not null default 0,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now()
);
-- md5 takes text as it is; sha256 would want it converted, which no index may do.
create unique index series_key_unique on series (library_id, md5(key));
create index series_sort on series (sort_key, id);
create index series_title_key on series (library_id, search_key);

create table series_external_id (
  series_id   uuid not null references series on delete cascade,
  source      text not null,
  external_id text not null,
  url         text,
  hash        text,
  primary key (series_id, source)
);
create index series_external_id_value on series_external_id (source, external_id);

create table book (
  id           uuid primary key,
  library_id   uuid not null references library on delete cascade,
  series_id    uuid not null references series,
  directory_id uuid not null references directory,
  name         bytea not null,
  size         bigint not null,
  modified_ms  bigint not null,
  -- KOReader's partial MD5; with the size it finds moved and returning files.
  fingerprint  bytea,
  sha256       bytea,
  format       text,
  page_count   integer not null default 0,
  title        text not null,
  title_sort   text,
  sort_key     text collate "C" not null,
  search_key   text not null,
  -- Natural key of the file name: the order inside a series when numbers do not decide.
  name_key     text collate "C" not null,
  number       text,
  number_sort  double precision,
  volume       double precision,
  chapter      double precision,
  -- The series as the file itself says; the grouping is series_id.
  series_named text,
  year         integer,
  month        smallint,
  day          smallint,
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
  -- Fields that are shown but neither filtered nor sorted by.
  more         jsonb not null default '{}',
  provenance   jsonb not null default '{}',
  locks        text[] not null default '{}',
  warnings     text[] not null default '{}',
  error_code   text,
  error_message text,
  -- Content-addressed thumbnail: the name of a file under the data directory.
  cover        bytea,
  cover_error  text,
  scan_id      uuid,
  missing_at   timestamptz,
  created_at   timestamptz not null default now(),
  updated_at   timestamptz not null default now()
) with (fillfactor = 85);
-- A missing book keeps the place where it was last seen; another file may take that place.
create unique index book_place_unique on book (directory_id, name) where missing_at is null;
create index book_place_missing on book (directory_id, name) where missing_at is not null;
create index book_identity on book (size, fingerprint);
create index book_sha256 on book (sha256) where sha256 is not null;
create index book_in_series on book (series_id, number_sort, name_key, id);
create index book_in_library on book (library_id, sort_key, id);
create index book_io_error on book (library_id) where error_code = 'io';

-- The pages of a book, one row a book: deflated JSON (pipeline/pages.ts).
create table page_list (
  book_id uuid primary key references book on delete cascade,
  pages   bytea not null
);

create table account (
  id            uuid primary key,
  username      text not null,
  email         text,
  password_hash text not null,
  role          text not null default 'reader',
  created_at    timestamptz not null default now(),
  updated_at    timestamptz not null default now(),
  constraint account_role_known check (role in ('reader', 'maintainer', 'admin'))
);
create unique index account_username_unique on account (lower(username));
create unique index account_email_unique on account (lower(email));

-- Progress hangs on the book's id, which survives moves, absence and return.
create table progress (
  account_id   uuid not null references account on delete cascade,
  book_id      uuid not null references book on delete cascade,
  current_page integer not null,
  is_completed boolean not null default false,
  started_at   timestamptz not null default now(),
  updated_at   timestamptz not null default now(),
  completed_at timestamptz,
  primary key (account_id, book_id)
);
create index progress_book on progress (book_id);

create table duplicate_group (
  id         uuid primary key default gen_random_uuid(),
  kind       text not null,
  library_id uuid references library on delete cascade,
  -- SHA-256 in hex, `source:id`, or `library:normalised title`.
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

-- What the server keeps about itself, e.g. the hash of the setup token.
create table setting (
  key        text primary key,
  value      jsonb not null,
  updated_at timestamptz not null default now()
);
