-- Generated from the migrations by `npm run schema`; a test compares it. Do not edit.

CREATE TABLE account (
  id uuid not null,
  username text not null,
  email text,
  password_hash text not null,
  role text not null default 'reader'::text,
  permissions text[] not null default '{}'::text[],
  is_active boolean not null default true,
  email_verified boolean not null default true,
  all_libraries boolean not null default true,
  age_limit integer,
  shows_unrated boolean not null default true,
  last_login_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint account_pkey PRIMARY KEY (id),
  constraint account_role_known CHECK ((role = ANY (ARRAY['reader'::text, 'maintainer'::text, 'admin'::text]))),
  constraint account_username_no_address CHECK (((POSITION(('@'::text) IN (username)) = 0) OR (lower(username) = lower(COALESCE(email, ''::text)))))
);

CREATE TABLE account_library (
  account_id uuid not null,
  library_id uuid not null,
  constraint account_library_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint account_library_library_id_fkey FOREIGN KEY (library_id) REFERENCES library(id) ON DELETE CASCADE,
  constraint account_library_pkey PRIMARY KEY (account_id, library_id)
);

CREATE TABLE account_list_change (
  account_id uuid not null,
  count bigint not null
);

CREATE TABLE account_sharing_tag (
  id uuid not null,
  account_id uuid not null,
  tag_id uuid not null,
  mode text not null,
  created_at timestamp with time zone not null default now(),
  constraint account_sharing_tag_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint account_sharing_tag_mode_known CHECK ((mode = ANY (ARRAY['allow'::text, 'deny'::text]))),
  constraint account_sharing_tag_pkey PRIMARY KEY (id),
  constraint account_sharing_tag_tag_id_fkey FOREIGN KEY (tag_id) REFERENCES sharing_tag(id) ON DELETE CASCADE,
  constraint account_sharing_tag_unique UNIQUE (account_id, tag_id)
);

CREATE TABLE annotation (
  account_id uuid not null,
  id uuid not null,
  book_id uuid not null,
  kind text not null,
  locator json,
  progression double precision,
  device_position text,
  text text,
  note text,
  color text,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  deleted_at timestamp(3) with time zone,
  constraint annotation_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint annotation_book_id_fkey FOREIGN KEY (book_id) REFERENCES book(id) ON DELETE CASCADE,
  constraint annotation_change_unique UNIQUE (account_id, updated_at),
  constraint annotation_kind_known CHECK ((kind = ANY (ARRAY['bookmark'::text, 'highlight'::text, 'note'::text]))),
  constraint annotation_pkey PRIMARY KEY (account_id, id),
  constraint annotation_placed CHECK (((deleted_at IS NOT NULL) OR (locator IS NOT NULL)))
);

CREATE TABLE api_key (
  id uuid not null,
  account_id uuid not null,
  name text not null,
  prefix text not null,
  secret_sha256 bytea not null,
  koreader_sha256 bytea,
  permissions text[] not null,
  is_active boolean not null default true,
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint api_key_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint api_key_koreader_unique UNIQUE (koreader_sha256),
  constraint api_key_pkey PRIMARY KEY (id),
  constraint api_key_prefix_unique UNIQUE (prefix)
);

CREATE TABLE backup (
  id uuid not null,
  file text not null,
  started_at timestamp with time zone not null default now(),
  ended_at timestamp with time zone,
  bytes bigint,
  error text,
  constraint backup_pkey PRIMARY KEY (id)
);

CREATE TABLE book (
  id uuid not null,
  library_id uuid not null,
  series_id uuid not null,
  directory_id uuid not null,
  name bytea not null,
  size bigint not null,
  modified_ms bigint not null,
  fingerprint bytea,
  format text,
  page_count integer not null default 0,
  page_type text,
  title text not null,
  title_sort text,
  sort_key text collate "C" not null,
  search_key text not null,
  name_key text collate "C" not null,
  number text,
  number_sort double precision,
  volume_sort double precision,
  volume double precision,
  chapter double precision,
  embedded_series text,
  year integer,
  month smallint,
  day smallint,
  released integer generated always as ((((year * 10000) + (COALESCE((month)::integer, 0) * 100)) + COALESCE((day)::integer, 0))) stored,
  language text,
  authors jsonb not null default '[]'::jsonb,
  summary text,
  publisher text,
  imprint text,
  genres text[] not null default '{}'::text[],
  tags text[] not null default '{}'::text[],
  isbn text,
  age_rating integer,
  reading_direction text,
  extra_metadata jsonb not null default '{}'::jsonb,
  provenance jsonb not null default '{}'::jsonb,
  locks text[] not null default '{}'::text[],
  warnings text[] not null default '{}'::text[],
  error_code text,
  error_message text,
  custom_cover bytea,
  scan_id uuid,
  missing_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint book_direction_known CHECK ((reading_direction = ANY (ARRAY['ltr'::text, 'rtl'::text, 'ttb'::text, 'webtoon'::text]))),
  constraint book_error_known CHECK ((error_code = ANY (ARRAY['bad_crc'::text, 'encrypted'::text, 'internal'::text, 'io'::text, 'memory'::text, 'multi_volume'::text, 'no_pages'::text, 'not_an_archive'::text, 'timeout'::text, 'too_large'::text, 'truncated'::text, 'unsupported_format'::text, 'unsupported_image'::text, 'unsupported_method'::text]))),
  constraint book_format_known CHECK ((format = ANY (ARRAY['cbz'::text, 'cbr'::text, 'cb7'::text, 'cbt'::text, 'epub'::text, 'pdf'::text]))),
  constraint book_pkey PRIMARY KEY (id)
);

CREATE TABLE book_artifact (
  book_id uuid not null,
  sha256 bytea,
  checks bytea,
  cover bytea,
  cover_error text,
  attempts smallint not null default 0,
  tried_version text,
  tried_at timestamp with time zone,
  changed_ms bigint,
  artwork text,
  constraint book_artifact_pkey PRIMARY KEY (book_id)
) WITH (fillfactor=70);

CREATE TABLE book_locator (
  account_id uuid not null,
  book_id uuid not null,
  position_id uuid not null,
  modified_at timestamp with time zone not null,
  device json not null,
  locator json,
  koreader json,
  constraint book_locator_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint book_locator_book_id_fkey FOREIGN KEY (book_id) REFERENCES book(id) ON DELETE CASCADE,
  constraint book_locator_pkey PRIMARY KEY (account_id, book_id)
);

CREATE TABLE book_match (
  book_id uuid not null,
  source_id uuid not null,
  due_at timestamp with time zone,
  claimed_until timestamp with time zone,
  forced boolean not null default false,
  attempts integer not null default 0,
  outcome text,
  message text,
  external_id text,
  relevance double precision,
  matched_at timestamp with time zone,
  found jsonb,
  constraint book_match_book_id_fkey FOREIGN KEY (book_id) REFERENCES book(id) ON DELETE CASCADE,
  constraint book_match_pkey PRIMARY KEY (book_id, source_id),
  constraint book_match_source_id_fkey FOREIGN KEY (source_id) REFERENCES source(id) ON DELETE CASCADE
);

CREATE TABLE book_pages (
  book_id uuid not null,
  pages bytea not null,
  constraint book_pages_pkey PRIMARY KEY (book_id)
);

CREATE TABLE book_search (
  book_id uuid not null,
  series_id uuid not null,
  is_present boolean not null,
  sort_key text collate "C" not null,
  text text collate "C" not null,
  constraint book_search_pkey PRIMARY KEY (book_id)
) WITH (fillfactor=90);

CREATE TABLE book_summary (
  book_id uuid not null,
  series_id uuid not null,
  is_present boolean not null,
  key text collate "C" not null,
  constraint book_summary_pkey PRIMARY KEY (book_id)
);

CREATE TABLE client_session (
  sha256 bytea not null,
  session_id uuid not null,
  api_key_id uuid,
  used_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  constraint client_session_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_key(id) ON DELETE CASCADE,
  constraint client_session_pkey PRIMARY KEY (sha256),
  constraint client_session_session_id_fkey FOREIGN KEY (session_id) REFERENCES session(id) ON DELETE CASCADE
);

CREATE TABLE client_setting (
  account_id uuid,
  key text not null,
  value text not null,
  is_public boolean not null,
  constraint client_setting_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE
);

CREATE TABLE collection (
  id uuid not null,
  name text not null,
  name_key text collate "C" not null,
  summary text,
  is_ordered boolean not null default false,
  rule jsonb,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  settings_changed_at timestamp with time zone not null default now(),
  constraint collection_pkey PRIMARY KEY (id),
  constraint collection_rule_unordered CHECK (((rule IS NULL) OR (NOT is_ordered)))
);

CREATE TABLE collection_series (
  collection_id uuid not null,
  series_id uuid not null,
  "position" integer not null,
  added_at timestamp with time zone not null default now(),
  constraint collection_series_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES collection(id) ON DELETE CASCADE,
  constraint collection_series_pkey PRIMARY KEY (collection_id, series_id),
  constraint collection_series_series_id_fkey FOREIGN KEY (series_id) REFERENCES series(id) ON DELETE CASCADE
) WITH (fillfactor=70);

CREATE TABLE cover (
  id uuid not null,
  book_id uuid,
  series_id uuid,
  source text not null,
  hash bytea not null,
  original text not null,
  width integer,
  height integer,
  is_selected boolean not null default false,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  collection_id uuid,
  read_list_id uuid,
  constraint cover_book_id_fkey FOREIGN KEY (book_id) REFERENCES book(id) ON DELETE CASCADE,
  constraint cover_book_unique UNIQUE (book_id, hash),
  constraint cover_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES collection(id) ON DELETE CASCADE,
  constraint cover_collection_unique UNIQUE (collection_id, hash),
  constraint cover_of_one CHECK ((num_nonnulls(series_id, book_id, collection_id, read_list_id) = 1)),
  constraint cover_pkey PRIMARY KEY (id),
  constraint cover_read_list_id_fkey FOREIGN KEY (read_list_id) REFERENCES read_list(id) ON DELETE CASCADE,
  constraint cover_read_list_unique UNIQUE (read_list_id, hash),
  constraint cover_series_id_fkey FOREIGN KEY (series_id) REFERENCES series(id) ON DELETE CASCADE,
  constraint cover_series_unique UNIQUE (series_id, hash)
);

CREATE TABLE directory (
  id uuid not null,
  library_id uuid not null,
  parent_id uuid,
  path bytea not null,
  digest bytea,
  sidecars jsonb not null default '{}'::jsonb,
  artwork_due boolean not null default false,
  pending_digest bytea,
  constraint directory_library_id_fkey FOREIGN KEY (library_id) REFERENCES library(id) ON DELETE CASCADE,
  constraint directory_library_unique UNIQUE (id, library_id),
  constraint directory_parent_in_library FOREIGN KEY (parent_id, library_id) REFERENCES directory(id, library_id) ON DELETE CASCADE,
  constraint directory_pkey PRIMARY KEY (id)
);

CREATE TABLE duplicate_book (
  group_id uuid not null,
  book_id uuid not null,
  constraint duplicate_book_book_id_fkey FOREIGN KEY (book_id) REFERENCES book(id) ON DELETE CASCADE,
  constraint duplicate_book_group_id_fkey FOREIGN KEY (group_id) REFERENCES duplicate_group(id) ON DELETE CASCADE,
  constraint duplicate_book_pkey PRIMARY KEY (group_id, book_id)
);

CREATE TABLE duplicate_group (
  id uuid not null default gen_random_uuid(),
  kind text not null,
  library_id uuid,
  key text not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint duplicate_group_key_unique UNIQUE (kind, key),
  constraint duplicate_group_kind_known CHECK ((kind = ANY (ARRAY['book'::text, 'external_id'::text, 'title'::text]))),
  constraint duplicate_group_library_id_fkey FOREIGN KEY (library_id) REFERENCES library(id) ON DELETE CASCADE,
  constraint duplicate_group_pkey PRIMARY KEY (id)
);

CREATE TABLE duplicate_series (
  group_id uuid not null,
  series_id uuid not null,
  constraint duplicate_series_group_id_fkey FOREIGN KEY (group_id) REFERENCES duplicate_group(id) ON DELETE CASCADE,
  constraint duplicate_series_pkey PRIMARY KEY (group_id, series_id),
  constraint duplicate_series_series_id_fkey FOREIGN KEY (series_id) REFERENCES series(id) ON DELETE CASCADE
);

CREATE TABLE email_verification (
  sha256 bytea not null,
  account_id uuid not null,
  email text,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  constraint email_verification_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint email_verification_pkey PRIMARY KEY (sha256)
);

CREATE TABLE event (
  id bigint not null generated always as identity,
  number bigint,
  stream text not null default 'entity'::text,
  type text not null,
  count integer not null,
  library_id uuid,
  series_ids uuid[],
  book_ids uuid[],
  fields text[],
  account_id uuid,
  data jsonb,
  audience jsonb,
  created_at timestamp with time zone not null default clock_timestamp(),
  constraint event_numbered TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint event_pkey PRIMARY KEY (id),
  constraint event_stream_known CHECK ((stream = ANY (ARRAY['entity'::text, 'task'::text, 'scan'::text])))
);

CREATE TABLE event_server (
  started_at timestamp with time zone not null
);

CREATE TABLE external_reference (
  id uuid not null default gen_random_uuid(),
  kind text not null,
  series_id uuid,
  book_id uuid,
  source text not null,
  external_id text,
  url text,
  hash text,
  rating double precision,
  votes integer,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  former jsonb,
  constraint external_reference_book_id_fkey FOREIGN KEY (book_id) REFERENCES book(id) ON DELETE CASCADE,
  constraint external_reference_book_unique UNIQUE (book_id, kind, source),
  constraint external_reference_complete CHECK (
CASE kind
    WHEN 'id'::text THEN (external_id IS NOT NULL)
    WHEN 'link'::text THEN (url IS NOT NULL)
    ELSE ((rating >= (0)::double precision) AND (rating <= (100)::double precision))
END),
  constraint external_reference_kind_known CHECK ((kind = ANY (ARRAY['id'::text, 'link'::text, 'rating'::text]))),
  constraint external_reference_of_one CHECK ((num_nonnulls(series_id, book_id) = 1)),
  constraint external_reference_pkey PRIMARY KEY (id),
  constraint external_reference_series_id_fkey FOREIGN KEY (series_id) REFERENCES series(id) ON DELETE CASCADE,
  constraint external_reference_series_unique UNIQUE (series_id, kind, source)
);

CREATE TABLE filter_preset (
  id uuid not null,
  account_id uuid not null,
  name text not null,
  scope text not null,
  target text not null,
  condition jsonb,
  query text,
  sort text,
  library_id uuid,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint filter_preset_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint filter_preset_library_id_fkey FOREIGN KEY (library_id) REFERENCES library(id) ON DELETE CASCADE,
  constraint filter_preset_pkey PRIMARY KEY (id),
  constraint filter_preset_scope_known CHECK ((scope = ANY (ARRAY['list'::text, 'search'::text]))),
  constraint filter_preset_target_known CHECK ((target = ANY (ARRAY['series'::text, 'books'::text])))
);

CREATE TABLE koreader_document (
  account_id uuid not null,
  document text not null,
  digest bytea generated always as (
CASE
    WHEN (document ~ '^[0-9a-f]{32}$'::text) THEN decode(document, 'hex'::text)
    ELSE NULL::bytea
END) stored,
  progress text not null,
  percentage double precision not null,
  device text not null,
  device_id text not null,
  updated_at timestamp with time zone not null,
  constraint koreader_document_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint koreader_document_pkey PRIMARY KEY (account_id, document)
);

CREATE TABLE label (
  id uuid not null,
  kind text not null,
  key text not null,
  name text not null,
  spellings text[] not null,
  created_at timestamp with time zone not null default now(),
  constraint label_kind_known CHECK ((kind = ANY (ARRAY['genre'::text, 'tag'::text]))),
  constraint label_pkey PRIMARY KEY (id)
);

CREATE TABLE library (
  id uuid not null,
  name text not null,
  description text,
  root bytea not null,
  device text,
  is_active boolean not null default true,
  series_strategy text not null default 'series_volume'::text,
  series_config jsonb not null default '{}'::jsonb,
  book_strategy text not null default 'metadata_first'::text,
  book_config jsonb not null default '{}'::jsonb,
  number_strategy text not null default 'smart'::text,
  number_config jsonb not null default '{}'::jsonb,
  strategies_changed boolean not null default false,
  scanning_config jsonb not null default '{}'::jsonb,
  default_reading_direction text not null default 'ltr'::text,
  allowed_formats text[],
  excluded_patterns text not null default ''::text,
  follow_links boolean not null default false,
  title_preprocessing_rules jsonb not null default '[]'::jsonb,
  auto_match_conditions jsonb,
  hash_policy text not null default 'full'::text,
  series_count integer not null default 0,
  book_count integer not null default 0,
  missing_count integer not null default 0,
  page_count bigint not null default 0,
  size bigint not null default 0,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  last_scanned_at timestamp with time zone,
  schedule_changed_at timestamp with time zone not null default now(),
  deleting_at timestamp with time zone,
  constraint library_book_strategy_known CHECK ((book_strategy = ANY (ARRAY['filename'::text, 'metadata_first'::text, 'smart'::text, 'series_name'::text, 'custom'::text]))),
  constraint library_direction_known CHECK ((default_reading_direction = ANY (ARRAY['ltr'::text, 'rtl'::text, 'ttb'::text, 'webtoon'::text]))),
  constraint library_formats_known CHECK ((allowed_formats <@ ARRAY['cbz'::text, 'cbr'::text, 'cb7'::text, 'cbt'::text, 'epub'::text, 'pdf'::text])),
  constraint library_hash_policy_known CHECK ((hash_policy = ANY (ARRAY['full'::text, 'candidates'::text, 'off'::text]))),
  constraint library_number_strategy_known CHECK ((number_strategy = ANY (ARRAY['file_order'::text, 'metadata'::text, 'filename'::text, 'smart'::text]))),
  constraint library_pkey PRIMARY KEY (id),
  constraint library_series_strategy_known CHECK ((series_strategy = ANY (ARRAY['series_volume'::text, 'series_volume_chapter'::text, 'flat'::text, 'publisher_hierarchy'::text, 'calibre'::text, 'custom'::text])))
);

CREATE TABLE library_watch (
  library_id uuid not null,
  mode text not null,
  message text,
  since timestamp with time zone not null default now(),
  seen_at timestamp with time zone not null default now(),
  constraint library_watch_library_id_fkey FOREIGN KEY (library_id) REFERENCES library(id) ON DELETE CASCADE,
  constraint library_watch_mode_known CHECK ((mode = ANY (ARRAY['watching'::text, 'polling'::text]))),
  constraint library_watch_pkey PRIMARY KEY (library_id)
);

CREATE TABLE list_change (
  subject text not null,
  count bigint not null,
  books uuid[],
  series uuid[],
  transaction_id xid8 default pg_current_xact_id(),
  changed_at timestamp with time zone not null default clock_timestamp()
);

CREATE TABLE missing_candidate (
  book_id uuid not null,
  library_id uuid not null,
  directory_id uuid not null,
  constraint missing_candidate_book_id_fkey FOREIGN KEY (book_id) REFERENCES book(id) ON DELETE CASCADE,
  constraint missing_candidate_directory_id_fkey FOREIGN KEY (directory_id) REFERENCES directory(id) ON DELETE CASCADE,
  constraint missing_candidate_library_id_fkey FOREIGN KEY (library_id) REFERENCES library(id) ON DELETE CASCADE,
  constraint missing_candidate_pkey PRIMARY KEY (book_id)
);

CREATE UNLOGGED TABLE page_stream (
  account_id uuid not null,
  book_id uuid not null,
  state jsonb not null,
  updated_at timestamp with time zone not null,
  constraint page_stream_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint page_stream_book_id_fkey FOREIGN KEY (book_id) REFERENCES book(id) ON DELETE CASCADE,
  constraint page_stream_pkey PRIMARY KEY (account_id, book_id)
);

CREATE TABLE pending_file (
  id bigint not null generated always as identity,
  library_id uuid not null,
  directory_id uuid not null,
  name bytea not null,
  size bigint not null,
  modified_ms bigint not null,
  forced boolean not null default false,
  attempts smallint not null default 1,
  constraint pending_file_directory_in_library FOREIGN KEY (directory_id, library_id) REFERENCES directory(id, library_id) ON DELETE CASCADE,
  constraint pending_file_location_unique UNIQUE (directory_id, name),
  constraint pending_file_pkey PRIMARY KEY (id)
);

CREATE TABLE preference (
  account_id uuid not null,
  key text not null,
  value jsonb not null,
  updated_at timestamp with time zone not null default now(),
  constraint preference_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint preference_pkey PRIMARY KEY (account_id, key)
);

CREATE TABLE progress (
  account_id uuid not null,
  book_id uuid not null,
  current_page integer not null,
  percentage double precision,
  is_completed boolean not null default false,
  started_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  completed_at timestamp with time zone,
  finished_at timestamp with time zone,
  position_id uuid,
  constraint progress_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint progress_book_id_fkey FOREIGN KEY (book_id) REFERENCES book(id) ON DELETE CASCADE,
  constraint progress_page_known CHECK ((current_page >= 0)),
  constraint progress_pkey PRIMARY KEY (account_id, book_id)
);

CREATE UNLOGGED TABLE rate_bucket (
  key text not null,
  tokens double precision not null,
  granted double precision not null,
  updated_at timestamp with time zone not null,
  constraint rate_bucket_pkey PRIMARY KEY (key)
);

CREATE TABLE read_list (
  id uuid not null,
  name text not null,
  name_key text collate "C" not null,
  summary text,
  is_ordered boolean not null default false,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  settings_changed_at timestamp with time zone not null default now(),
  constraint read_list_pkey PRIMARY KEY (id)
);

CREATE TABLE read_list_book (
  read_list_id uuid not null,
  book_id uuid not null,
  "position" integer not null,
  added_at timestamp with time zone not null default now(),
  series_id uuid not null,
  age_rating integer,
  is_present boolean not null,
  constraint read_list_book_book_id_fkey FOREIGN KEY (book_id) REFERENCES book(id) ON DELETE CASCADE,
  constraint read_list_book_pkey PRIMARY KEY (read_list_id, book_id),
  constraint read_list_book_read_list_id_fkey FOREIGN KEY (read_list_id) REFERENCES read_list(id) ON DELETE CASCADE
) WITH (fillfactor=70);

CREATE TABLE reading_device (
  id integer not null generated always as identity,
  account_id uuid not null,
  key text not null,
  name text,
  constraint reading_device_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint reading_device_pkey PRIMARY KEY (id),
  constraint reading_device_unique UNIQUE (account_id, key)
);

CREATE TABLE reading_pass (
  account_id uuid not null,
  book_id uuid not null,
  started_at timestamp with time zone not null,
  completed_at timestamp with time zone not null,
  device integer,
  constraint reading_pass_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint reading_pass_pkey PRIMARY KEY (account_id, book_id, completed_at)
);

CREATE TABLE reading_session (
  account_id uuid not null,
  id uuid not null,
  book_id uuid not null,
  kind text not null,
  surface text not null,
  device integer,
  started_at timestamp with time zone not null,
  ended_at timestamp with time zone not null,
  recorded_at timestamp with time zone not null default now(),
  is_session boolean not null default false,
  measured_ms bigint,
  inferred_ms bigint,
  pages_read integer,
  is_part boolean not null default false,
  page integer,
  percentage double precision,
  restarted_at timestamp with time zone[] not null default '{}'::timestamp with time zone[],
  completed_at timestamp with time zone[] not null default '{}'::timestamp with time zone[],
  sittings integer,
  unmeasured integer,
  unpaged integer,
  constraint reading_session_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint reading_session_kind_known CHECK ((kind = ANY (ARRAY['progress'::text, 'completed'::text, 'read'::text, 'reset'::text, 'forget'::text, 'baseline'::text]))),
  constraint reading_session_ordered CHECK ((started_at <= ended_at)),
  constraint reading_session_pkey PRIMARY KEY (account_id, id)
);

CREATE TABLE refresh_token (
  sha256 bytea not null,
  session_id uuid not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  used_at timestamp with time zone,
  constraint refresh_token_pkey PRIMARY KEY (sha256),
  constraint refresh_token_session_id_fkey FOREIGN KEY (session_id) REFERENCES session(id) ON DELETE CASCADE
);

CREATE TABLE release (
  id uuid not null,
  source_id uuid not null,
  series_id uuid not null,
  external_release_id text not null,
  state text not null,
  payload_url text not null,
  media_url text,
  media_url_kind text,
  info_hash text,
  group_or_uploader text,
  language text,
  chapters jsonb,
  volumes jsonb,
  last_chapter double precision generated always as ((((chapters -> '-1'::integer) ->> 'end'::text))::double precision) stored,
  last_volume double precision generated always as ((((volumes -> '-1'::integer) ->> 'end'::text))::double precision) stored,
  format_hints jsonb not null default '{}'::jsonb,
  metadata jsonb not null default '{}'::jsonb,
  confidence double precision not null,
  released_at timestamp with time zone,
  observed_at timestamp with time zone not null default now(),
  dated_at timestamp with time zone generated always as (COALESCE(released_at, observed_at)) stored,
  created_at timestamp with time zone not null default now(),
  constraint release_media_complete CHECK (((media_url IS NULL) = (media_url_kind IS NULL))),
  constraint release_pkey PRIMARY KEY (id),
  constraint release_series_id_fkey FOREIGN KEY (series_id) REFERENCES series_tracking(series_id) ON DELETE CASCADE,
  constraint release_source_id_fkey FOREIGN KEY (source_id) REFERENCES release_source(id) ON DELETE CASCADE,
  constraint release_state_known CHECK ((state = ANY (ARRAY['announced'::text, 'dismissed'::text, 'marked_acquired'::text, 'hidden'::text])))
);

CREATE TABLE release_change (
  id bigint not null generated always as identity,
  release_id uuid not null,
  from_state text,
  to_state text not null,
  account_id uuid,
  reason text not null,
  details jsonb,
  created_at timestamp with time zone not null default now(),
  constraint release_change_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE SET NULL,
  constraint release_change_pkey PRIMARY KEY (id),
  constraint release_change_reason_known CHECK ((reason = ANY (ARRAY['announced'::text, 'owned'::text, 'not_tracked'::text, 'request'::text, 'scan'::text]))),
  constraint release_change_release_id_fkey FOREIGN KEY (release_id) REFERENCES release(id) ON DELETE CASCADE
);

CREATE TABLE release_mark (
  account_id uuid not null,
  release_id uuid not null,
  seen_at timestamp with time zone not null default now(),
  dismissed_at timestamp with time zone,
  constraint release_mark_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint release_mark_pkey PRIMARY KEY (account_id, release_id),
  constraint release_mark_release_id_fkey FOREIGN KEY (release_id) REFERENCES release(id) ON DELETE CASCADE
);

CREATE TABLE release_source (
  id uuid not null,
  source_id uuid not null,
  key text not null,
  kind text not null,
  display_name text not null,
  enabled boolean not null default false,
  cron_schedule text,
  schedule_changed_at timestamp with time zone not null default now(),
  cursor jsonb,
  poll_after uuid,
  poll_id uuid,
  last_polled_at timestamp with time zone,
  last_error text,
  last_error_at timestamp with time zone,
  last_summary text,
  config jsonb not null default '{}'::jsonb,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint release_source_key_unique UNIQUE (source_id, key),
  constraint release_source_kind_known CHECK ((kind = ANY (ARRAY['rss-uploader'::text, 'rss-series'::text, 'api-feed'::text, 'metadata-feed'::text, 'metadata-piggyback'::text]))),
  constraint release_source_pkey PRIMARY KEY (id),
  constraint release_source_source_id_fkey FOREIGN KEY (source_id) REFERENCES source(id) ON DELETE CASCADE
);

CREATE TABLE scan (
  id uuid not null,
  number bigint not null generated always as identity,
  library_id uuid not null,
  mode text not null,
  paths bytea[] not null default '{}'::bytea[],
  options jsonb not null default '{}'::jsonb,
  state text not null default 'queued'::text,
  message text,
  found integer not null default 0,
  added integer not null default 0,
  changed integer not null default 0,
  moved integer not null default 0,
  missing integer not null default 0,
  restored integer not null default 0,
  unchanged integer not null default 0,
  series_added integer not null default 0,
  unreadable_directories integer not null default 0,
  failed jsonb not null default '{}'::jsonb,
  warnings integer not null default 0,
  covers integer not null default 0,
  hashed integer not null default 0,
  to_index integer not null default 0,
  to_cover integer not null default 0,
  to_hash integer not null default 0,
  bytes_read bigint not null default 0,
  opens integer not null default 0,
  created_at timestamp with time zone not null default now(),
  started_at timestamp with time zone,
  host text,
  pid integer,
  discovered_at timestamp with time zone,
  indexed_at timestamp with time zone,
  first_cover_at timestamp with time zone,
  last_cover_at timestamp with time zone,
  first_hash_at timestamp with time zone,
  last_hash_at timestamp with time zone,
  finished_at timestamp with time zone,
  constraint scan_library_id_fkey FOREIGN KEY (library_id) REFERENCES library(id) ON DELETE CASCADE,
  constraint scan_mode_known CHECK ((mode = ANY (ARRAY['normal'::text, 'deep'::text]))),
  constraint scan_pkey PRIMARY KEY (id),
  constraint scan_state_known CHECK ((state = ANY (ARRAY['queued'::text, 'running'::text, 'completed'::text, 'failed'::text, 'cancelled'::text, 'unavailable'::text, 'unconfirmed'::text])))
);

CREATE TABLE scan_record (
  id bigint not null generated always as identity,
  scan_id uuid not null,
  record jsonb not null,
  constraint scan_record_pkey PRIMARY KEY (id),
  constraint scan_record_scan_id_fkey FOREIGN KEY (scan_id) REFERENCES scan(id) ON DELETE CASCADE
);

CREATE TABLE schedule_slot (
  job text not null,
  slot timestamp with time zone not null,
  claimed_at timestamp with time zone not null default now(),
  constraint schedule_slot_pkey PRIMARY KEY (job, slot)
);

CREATE TABLE series (
  id uuid not null,
  library_id uuid not null,
  key text not null,
  name text not null,
  name_key text collate "C" not null default ''::text,
  folder text,
  folder_key text generated always as (folded(folder)) stored,
  one_shot boolean not null default false,
  title text not null,
  title_sort text,
  sort_key text collate "C" not null,
  search_key text not null,
  alternate_titles jsonb not null default '[]'::jsonb,
  authors jsonb not null default '[]'::jsonb,
  author_key text collate "C" not null default ''::text,
  credit_key text collate "C" not null default ''::text,
  credits text not null default ''::text,
  summary text,
  summary_key text generated always as (folded(summary)) stored,
  publisher text,
  imprint text,
  genres text[] not null default '{}'::text[],
  tags text[] not null default '{}'::text[],
  book_genres text[] not null default '{}'::text[],
  book_tags text[] not null default '{}'::text[],
  language text,
  status text not null default 'unknown'::text,
  reading_direction text,
  age_rating integer,
  year integer,
  total_volume_count integer,
  total_chapter_count double precision,
  custom_metadata text,
  locks text[] not null default '{}'::text[],
  provenance jsonb not null default '{}'::jsonb,
  cover_book_id uuid,
  custom_cover bytea,
  artwork text,
  artwork_cover bytea,
  book_count integer not null default 0,
  missing_count integer not null default 0,
  page_count bigint not null default 0,
  size bigint not null default 0,
  lowest_age integer not null default 0,
  released integer,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  grown_at timestamp with time zone,
  metadata_changed_at timestamp with time zone,
  constraint series_cover_book_exists FOREIGN KEY (cover_book_id) REFERENCES book(id) ON DELETE SET NULL,
  constraint series_direction_known CHECK ((reading_direction = ANY (ARRAY['ltr'::text, 'rtl'::text, 'ttb'::text, 'webtoon'::text]))),
  constraint series_library_id_fkey FOREIGN KEY (library_id) REFERENCES library(id) ON DELETE CASCADE,
  constraint series_library_unique UNIQUE (id, library_id),
  constraint series_pkey PRIMARY KEY (id),
  constraint series_status_known CHECK ((status = ANY (ARRAY['ongoing'::text, 'ended'::text, 'hiatus'::text, 'abandoned'::text, 'unknown'::text])))
);

CREATE TABLE series_alias (
  id uuid not null,
  series_id uuid not null,
  alias text not null,
  alias_key text collate "C" not null,
  source text not null default 'manual'::text,
  created_at timestamp with time zone not null default now(),
  constraint series_alias_pkey PRIMARY KEY (id),
  constraint series_alias_series_id_fkey FOREIGN KEY (series_id) REFERENCES series(id) ON DELETE CASCADE,
  constraint series_alias_unique UNIQUE (series_id, alias)
);

CREATE TABLE series_books_metadata (
  series_id uuid not null,
  age_limit integer not null,
  metadata jsonb not null,
  constraint series_books_metadata_pkey PRIMARY KEY (series_id, age_limit),
  constraint series_books_metadata_series_id_fkey FOREIGN KEY (series_id) REFERENCES series(id) ON DELETE CASCADE
);

CREATE TABLE series_follow (
  account_id uuid not null,
  series_id uuid not null,
  followed_at timestamp with time zone not null default now(),
  constraint series_follow_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint series_follow_pkey PRIMARY KEY (account_id, series_id),
  constraint series_follow_series_id_fkey FOREIGN KEY (series_id) REFERENCES series(id) ON DELETE CASCADE
);

CREATE TABLE series_label (
  label_id uuid not null,
  series_id uuid not null,
  is_own boolean not null,
  constraint series_label_label_id_fkey FOREIGN KEY (label_id) REFERENCES label(id) ON DELETE CASCADE,
  constraint series_label_pkey PRIMARY KEY (label_id, series_id) INCLUDE (is_own),
  constraint series_label_series_id_fkey FOREIGN KEY (series_id) REFERENCES series(id) ON DELETE CASCADE
);

CREATE TABLE series_match (
  series_id uuid not null,
  source_id uuid not null,
  due_at timestamp with time zone,
  claimed_until timestamp with time zone,
  forced boolean not null default false,
  attempts integer not null default 0,
  outcome text,
  message text,
  external_id text,
  relevance double precision,
  matched_at timestamp with time zone,
  found jsonb,
  constraint series_match_pkey PRIMARY KEY (series_id, source_id),
  constraint series_match_series_id_fkey FOREIGN KEY (series_id) REFERENCES series(id) ON DELETE CASCADE,
  constraint series_match_source_id_fkey FOREIGN KEY (source_id) REFERENCES source(id) ON DELETE CASCADE
);

CREATE TABLE series_reading (
  account_id uuid not null,
  series_id uuid not null,
  read_count integer not null,
  started_count integer not null,
  opened_count integer not null,
  last_read_at timestamp with time zone not null,
  last_completed_at timestamp with time zone,
  constraint series_reading_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint series_reading_pkey PRIMARY KEY (account_id, series_id),
  constraint series_reading_series_id_fkey FOREIGN KEY (series_id) REFERENCES series(id) ON DELETE CASCADE
);

CREATE TABLE series_refresh (
  library_id uuid not null,
  series_id uuid not null,
  retitle boolean not null default false,
  constraint series_refresh_library_id_fkey FOREIGN KEY (library_id) REFERENCES library(id) ON DELETE CASCADE,
  constraint series_refresh_pkey PRIMARY KEY (library_id, series_id),
  constraint series_refresh_series_id_fkey FOREIGN KEY (series_id) REFERENCES series(id) ON DELETE CASCADE
);

CREATE TABLE series_search (
  series_id uuid not null,
  text text collate "C" not null,
  constraint series_search_pkey PRIMARY KEY (series_id),
  constraint series_search_series_id_fkey FOREIGN KEY (series_id) REFERENCES series(id) ON DELETE CASCADE
);

CREATE TABLE series_sharing_tag (
  series_id uuid not null,
  tag_id uuid not null,
  created_at timestamp with time zone not null default now(),
  constraint series_sharing_tag_pkey PRIMARY KEY (series_id, tag_id),
  constraint series_sharing_tag_series_id_fkey FOREIGN KEY (series_id) REFERENCES series(id) ON DELETE CASCADE,
  constraint series_sharing_tag_tag_id_fkey FOREIGN KEY (tag_id) REFERENCES sharing_tag(id) ON DELETE CASCADE
);

CREATE TABLE series_tracking (
  series_id uuid not null,
  tracked boolean not null default false,
  track_chapters boolean not null default true,
  track_volumes boolean not null default true,
  latest_known_chapter double precision,
  latest_known_volume double precision,
  volume_chapter_map jsonb,
  poll_interval_override_s integer,
  confidence_threshold_override double precision,
  languages text[],
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint series_tracking_pkey PRIMARY KEY (series_id),
  constraint series_tracking_series_id_fkey FOREIGN KEY (series_id) REFERENCES series(id) ON DELETE CASCADE
);

CREATE TABLE session (
  id uuid not null,
  account_id uuid not null,
  created_at timestamp with time zone not null default now(),
  used_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  address text,
  constraint session_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint session_pkey PRIMARY KEY (id)
);

CREATE TABLE setting (
  key text not null,
  value jsonb not null,
  version integer not null default 1,
  updated_by uuid,
  updated_at timestamp with time zone not null default now(),
  constraint setting_pkey PRIMARY KEY (key),
  constraint setting_updated_by_fkey FOREIGN KEY (updated_by) REFERENCES account(id) ON DELETE SET NULL
);

CREATE TABLE setting_change (
  id uuid not null,
  key text not null,
  old_value jsonb,
  new_value jsonb,
  account_id uuid,
  username text,
  reason text,
  address text,
  changed_at timestamp with time zone not null default now(),
  constraint setting_change_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE SET NULL,
  constraint setting_change_pkey PRIMARY KEY (id)
);

CREATE TABLE sharing_tag (
  id uuid not null,
  name text not null,
  description text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint sharing_tag_pkey PRIMARY KEY (id)
);

CREATE TABLE source (
  id uuid not null,
  type text not null,
  name text not null,
  display_name text not null,
  config jsonb not null default '{}'::jsonb,
  credentials jsonb not null default '{}'::jsonb,
  enabled boolean not null default false,
  description jsonb,
  matching jsonb not null default '{}'::jsonb,
  failures integer not null default 0,
  last_error text,
  last_error_at timestamp with time zone,
  retry_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint source_name_unique UNIQUE (name),
  constraint source_pkey PRIMARY KEY (id),
  constraint source_plugin_named CHECK (((type = 'plugin'::text) = starts_with(name, 'plugin:'::text))),
  constraint source_type_known CHECK ((type = ANY (ARRAY['preset'::text, 'feed'::text, 'http'::text, 'dump'::text, 'plugin'::text])))
);

CREATE TABLE source_failure (
  id uuid not null,
  source_id uuid not null,
  operation text not null,
  kind text not null,
  message text not null,
  created_at timestamp with time zone not null default now(),
  constraint source_failure_pkey PRIMARY KEY (id),
  constraint source_failure_source_id_fkey FOREIGN KEY (source_id) REFERENCES source(id) ON DELETE CASCADE
);

CREATE TABLE user_rating (
  id uuid not null,
  account_id uuid not null,
  series_id uuid not null,
  rating integer not null,
  notes text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint user_rating_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint user_rating_known CHECK (((rating >= 1) AND (rating <= 100))),
  constraint user_rating_pkey PRIMARY KEY (id),
  constraint user_rating_series_id_fkey FOREIGN KEY (series_id) REFERENCES series(id) ON DELETE CASCADE,
  constraint user_rating_unique UNIQUE (account_id, series_id) INCLUDE (rating)
);

CREATE TABLE want_to_read (
  id uuid not null,
  account_id uuid not null,
  series_id uuid,
  book_id uuid,
  "position" integer not null,
  added_at timestamp with time zone not null default now(),
  constraint want_to_read_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  constraint want_to_read_book_id_fkey FOREIGN KEY (book_id) REFERENCES book(id) ON DELETE CASCADE,
  constraint want_to_read_book_unique UNIQUE (account_id, book_id),
  constraint want_to_read_of_one CHECK ((num_nonnulls(series_id, book_id) = 1)),
  constraint want_to_read_pkey PRIMARY KEY (id),
  constraint want_to_read_series_id_fkey FOREIGN KEY (series_id) REFERENCES series(id) ON DELETE CASCADE,
  constraint want_to_read_series_unique UNIQUE (account_id, series_id)
);

CREATE UNIQUE INDEX account_email_unique ON public.account USING btree (lower(email));
CREATE INDEX account_library_library ON public.account_library USING btree (library_id);
CREATE INDEX account_list_change_account ON public.account_list_change USING btree (account_id) INCLUDE (count);
CREATE INDEX account_sharing_tag_tag ON public.account_sharing_tag USING btree (tag_id);
CREATE UNIQUE INDEX account_username_unique ON public.account USING btree (lower(username));
CREATE INDEX annotation_book ON public.annotation USING btree (book_id);
CREATE INDEX annotation_deleted ON public.annotation USING btree (account_id, deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX annotation_place ON public.annotation USING btree (account_id, book_id, progression, id) WHERE (deleted_at IS NULL);
CREATE INDEX api_key_account ON public.api_key USING btree (account_id, created_at);
CREATE INDEX book_artifact_cover_error ON public.book_artifact USING btree (book_id) WHERE ((cover_error IS NOT NULL) AND (cover IS NULL));
CREATE INDEX book_artifact_due_cover ON public.book_artifact USING btree (book_id) WHERE ((cover IS NULL) AND (cover_error IS NULL));
CREATE INDEX book_artifact_due_hash ON public.book_artifact USING btree (book_id) WHERE (sha256 IS NULL);
CREATE INDEX book_artifact_sha256 ON public.book_artifact USING btree (sha256) WHERE (sha256 IS NOT NULL);
CREATE INDEX book_by_age ON public.book USING btree (age_rating, series_id) INCLUDE (id) WHERE ((age_rating IS NOT NULL) AND (missing_at IS NULL));
CREATE INDEX book_by_created ON public.book USING btree (created_at, id) INCLUDE (series_id) WHERE (missing_at IS NULL);
CREATE INDEX book_by_error ON public.book USING btree (id) INCLUDE (series_id) WHERE ((error_code IS NOT NULL) AND (missing_at IS NULL));
CREATE INDEX book_by_format ON public.book USING btree (format, series_id) INCLUDE (id) WHERE (missing_at IS NULL);
CREATE INDEX book_by_modified ON public.book USING btree (modified_ms, id) INCLUDE (series_id) WHERE (missing_at IS NULL);
CREATE INDEX book_by_name ON public.book USING btree (name_key, id) INCLUDE (series_id) WHERE (missing_at IS NULL);
CREATE INDEX book_by_number ON public.book USING btree (number_sort, id) INCLUDE (series_id) WHERE (missing_at IS NULL);
CREATE INDEX book_by_number_down ON public.book USING btree (number_sort DESC NULLS LAST, id DESC) INCLUDE (series_id) WHERE (missing_at IS NULL);
CREATE INDEX book_by_pages ON public.book USING btree (page_count, id) INCLUDE (series_id) WHERE (missing_at IS NULL);
CREATE INDEX book_by_released ON public.book USING btree (released, id) INCLUDE (series_id) WHERE (missing_at IS NULL);
CREATE INDEX book_by_released_down ON public.book USING btree (released DESC NULLS LAST, id DESC) INCLUDE (series_id) WHERE (missing_at IS NULL);
CREATE INDEX book_by_search_key ON public.book USING btree (search_key text_pattern_ops) INCLUDE (series_id, id) WHERE (missing_at IS NULL);
CREATE INDEX book_by_size ON public.book USING btree (size, id) INCLUDE (series_id) WHERE (missing_at IS NULL);
CREATE INDEX book_by_title ON public.book USING btree (sort_key, id) INCLUDE (series_id) WHERE (missing_at IS NULL);
CREATE INDEX book_by_type ON public.book USING btree (((extra_metadata ->> 'bookType'::text)), series_id, id) WHERE (((extra_metadata ->> 'bookType'::text) IS NOT NULL) AND (missing_at IS NULL));
CREATE INDEX book_by_updated ON public.book USING btree (updated_at, id) INCLUDE (series_id) WHERE (missing_at IS NULL);
CREATE INDEX book_directory ON public.book USING btree (directory_id);
CREATE INDEX book_facts ON public.book USING btree (series_id, id) INCLUDE (search_key, page_count, created_at, format) WHERE (missing_at IS NULL);
CREATE INDEX book_failed ON public.book USING btree (library_id) WHERE (error_code IS NOT NULL);
CREATE INDEX book_identity ON public.book USING btree (fingerprint, size);
CREATE INDEX book_in_library ON public.book USING btree (library_id, sort_key, id);
CREATE INDEX book_in_series ON public.book USING btree (series_id, volume_sort, number_sort, name_key, id);
CREATE UNIQUE INDEX book_location_unique ON public.book USING btree (directory_id, name) INCLUDE (series_id, id) WHERE (missing_at IS NULL);
CREATE INDEX book_locator_book ON public.book_locator USING btree (book_id);
CREATE INDEX book_match_due ON public.book_match USING btree (source_id, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX book_match_latest ON public.book_match USING btree (source_id, matched_at DESC);
CREATE INDEX book_missing_location ON public.book USING btree (directory_id, name) WHERE (missing_at IS NOT NULL);
CREATE INDEX book_name_md5 ON public.book USING hash (md5(name));
CREATE INDEX book_new_in_library ON public.book USING btree (library_id, created_at, id) WHERE (missing_at IS NULL);
CREATE INDEX book_rated ON public.book USING btree (library_id, age_rating, series_id) WHERE ((age_rating IS NOT NULL) AND (missing_at IS NULL));
CREATE INDEX book_released_in_library ON public.book USING btree (library_id, released DESC NULLS LAST, id DESC) WHERE ((missing_at IS NULL) AND (released IS NOT NULL));
CREATE INDEX book_search_text ON public.book_search USING gin (text gin_trgm_ops);
CREATE INDEX book_sort_titled ON public.book USING btree (search_key text_pattern_ops) INCLUDE (series_id, id, title_sort) WHERE ((title_sort IS NOT NULL) AND (missing_at IS NULL));
CREATE INDEX book_summarized ON public.book USING btree (series_id, id) WHERE ((summary IS NOT NULL) AND (missing_at IS NULL));
CREATE INDEX client_session_api_key ON public.client_session USING btree (api_key_id);
CREATE INDEX client_session_expiry ON public.client_session USING btree (expires_at);
CREATE INDEX client_session_session ON public.client_session USING btree (session_id);
CREATE UNIQUE INDEX client_setting_unique ON public.client_setting USING btree (COALESCE(account_id, '00000000-0000-0000-0000-000000000000'::uuid), key);
CREATE INDEX collection_by_name ON public.collection USING btree (name_key, id);
CREATE INDEX collection_lower_name ON public.collection USING btree (lower(name));
CREATE INDEX collection_ruled ON public.collection USING btree (id) WHERE (rule IS NOT NULL);
CREATE INDEX collection_series_member ON public.collection_series USING btree (series_id, collection_id);
CREATE UNIQUE INDEX cover_book_selected ON public.cover USING btree (book_id) WHERE is_selected;
CREATE UNIQUE INDEX cover_collection_selected ON public.cover USING btree (collection_id) WHERE is_selected;
CREATE UNIQUE INDEX cover_read_list_selected ON public.cover USING btree (read_list_id) WHERE is_selected;
CREATE UNIQUE INDEX cover_series_selected ON public.cover USING btree (series_id) WHERE is_selected;
CREATE INDEX directory_artwork_due ON public.directory USING btree (library_id) WHERE artwork_due;
CREATE UNIQUE INDEX directory_long_path_unique ON public.directory USING btree (library_id, sha256(path)) WHERE (length(path) > 2000);
CREATE INDEX directory_parent ON public.directory USING btree (parent_id);
CREATE UNIQUE INDEX directory_path_unique ON public.directory USING btree (library_id, path) WHERE (length(path) <= 2000);
CREATE INDEX duplicate_book_member ON public.duplicate_book USING btree (book_id);
CREATE INDEX duplicate_series_member ON public.duplicate_series USING btree (series_id);
CREATE INDEX email_verification_account ON public.email_verification USING btree (account_id);
CREATE UNIQUE INDEX event_number ON public.event USING btree (number);
CREATE INDEX external_reference_rating ON public.external_reference USING btree (series_id, rating) WHERE (kind = 'rating'::text);
CREATE INDEX external_reference_value ON public.external_reference USING btree (source, external_id) WHERE (kind = 'id'::text);
CREATE INDEX filter_preset_library ON public.filter_preset USING btree (library_id) WHERE (library_id IS NOT NULL);
CREATE UNIQUE INDEX filter_preset_name_unique ON public.filter_preset USING btree (account_id, scope, target, lower(name));
CREATE INDEX koreader_document_age ON public.koreader_document USING btree (account_id, updated_at);
CREATE INDEX label_key ON public.label USING btree (kind, key);
CREATE UNIQUE INDEX library_root_unique ON public.library USING btree (sha256(root)) WHERE (deleting_at IS NULL);
CREATE INDEX missing_candidate_in_library ON public.missing_candidate USING btree (library_id);
CREATE INDEX page_stream_age ON public.page_stream USING btree (updated_at);
CREATE INDEX pending_file_in_library ON public.pending_file USING btree (library_id);
CREATE INDEX progress_book ON public.progress USING btree (book_id);
CREATE INDEX progress_recent ON public.progress USING btree (account_id, updated_at, book_id);
CREATE INDEX progress_state ON public.progress USING btree (account_id, book_id) INCLUDE (is_completed, current_page);
CREATE INDEX progress_unfinished ON public.progress USING btree (account_id, updated_at, book_id) WHERE (NOT is_completed);
CREATE INDEX rate_bucket_age ON public.rate_bucket USING btree (updated_at);
CREATE INDEX read_list_book_member ON public.read_list_book USING btree (book_id, read_list_id);
CREATE INDEX read_list_by_name ON public.read_list USING btree (name_key, id);
CREATE INDEX read_list_lower_name ON public.read_list USING btree (lower(name));
CREATE INDEX reading_pass_time ON public.reading_pass USING btree (account_id, completed_at) INCLUDE (book_id, device);
CREATE INDEX reading_session_book ON public.reading_session USING btree (account_id, book_id, ended_at);
CREATE INDEX reading_session_time ON public.reading_session USING btree (account_id, started_at) INCLUDE (book_id, device, measured_ms, inferred_ms, pages_read, is_part, ended_at, sittings, unmeasured, unpaged) WHERE (kind = ANY (ARRAY['progress'::text, 'completed'::text]));
CREATE INDEX refresh_token_session ON public.refresh_token USING btree (session_id);
CREATE INDEX release_by_date ON public.release USING btree (dated_at, id) INCLUDE (state, series_id, language, source_id);
CREATE INDEX release_by_observed ON public.release USING btree (observed_at, id) INCLUDE (state, series_id, language, source_id);
CREATE INDEX release_change_account ON public.release_change USING btree (account_id) WHERE (account_id IS NOT NULL);
CREATE INDEX release_change_of ON public.release_change USING btree (release_id, id);
CREATE UNIQUE INDEX release_external_unique ON public.release USING btree (source_id, md5(external_release_id));
CREATE INDEX release_facts ON public.release USING btree (state, series_id, language, source_id);
CREATE INDEX release_in_series ON public.release USING btree (series_id, state);
CREATE UNIQUE INDEX release_info_hash_unique ON public.release USING btree (info_hash) WHERE (info_hash IS NOT NULL);
CREATE INDEX release_mark_release ON public.release_mark USING btree (release_id);
CREATE INDEX scan_active ON public.scan USING btree (library_id) WHERE (state = ANY (ARRAY['queued'::text, 'running'::text]));
CREATE INDEX scan_age ON public.scan USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX scan_of_library ON public.scan USING btree (library_id, number DESC);
CREATE INDEX scan_record_of_scan ON public.scan_record USING btree (scan_id, id);
CREATE INDEX schedule_slot_age ON public.schedule_slot USING btree (slot);
CREATE INDEX series_alias_key ON public.series_alias USING btree (alias_key, series_id);
CREATE INDEX series_by_books ON public.series USING btree (book_count, id) INCLUDE (library_id) WHERE (book_count > 0);
CREATE INDEX series_by_created ON public.series USING btree (created_at, id) INCLUDE (library_id) WHERE (book_count > 0);
CREATE INDEX series_by_language ON public.series USING btree (language, id) WHERE (book_count > 0);
CREATE INDEX series_by_name ON public.series USING btree (name_key, id) INCLUDE (library_id) WHERE (book_count > 0);
CREATE INDEX series_by_name_key ON public.series USING btree (series_name_key(search_key));
CREATE INDEX series_by_pages ON public.series USING btree (page_count, id) INCLUDE (library_id) WHERE (book_count > 0);
CREATE INDEX series_by_publisher ON public.series USING btree (publisher, id) INCLUDE (library_id, age_rating, lowest_age) WHERE (book_count > 0);
CREATE INDEX series_by_released ON public.series USING btree (released, id) INCLUDE (library_id) WHERE (book_count > 0);
CREATE INDEX series_by_released_down ON public.series USING btree (released DESC NULLS LAST, id DESC) INCLUDE (library_id) WHERE (book_count > 0);
CREATE INDEX series_by_search_key ON public.series USING btree (search_key, id) WHERE (book_count > 0);
CREATE INDEX series_by_size ON public.series USING btree (size, id) INCLUDE (library_id) WHERE (book_count > 0);
CREATE INDEX series_by_status ON public.series USING btree (status, id) WHERE (book_count > 0);
CREATE INDEX series_by_title ON public.series USING btree (sort_key, id) INCLUDE (library_id, book_count, age_rating, lowest_age) WHERE (book_count > 0);
CREATE INDEX series_by_updated ON public.series USING btree (updated_at, id) INCLUDE (library_id) WHERE (book_count > 0);
CREATE INDEX series_by_year ON public.series USING btree (year, id) INCLUDE (library_id) WHERE (book_count > 0);
CREATE INDEX series_by_year_down ON public.series USING btree (year DESC NULLS LAST, id DESC) INCLUDE (library_id) WHERE (book_count > 0);
CREATE INDEX series_cover_book ON public.series USING btree (cover_book_id) WHERE (cover_book_id IS NOT NULL);
CREATE INDEX series_empty ON public.series USING btree (id) WHERE (book_count = 0);
CREATE INDEX series_follow_series ON public.series_follow USING btree (series_id);
CREATE INDEX series_grown ON public.series USING btree (grown_at, id) WHERE ((grown_at IS NOT NULL) AND (book_count > 0));
CREATE INDEX series_in_library ON public.series USING btree (library_id, sort_key, id) WHERE (book_count > 0);
CREATE UNIQUE INDEX series_key_unique ON public.series USING btree (library_id, md5(key));
CREATE INDEX series_label_partial ON public.series_label USING btree (label_id) WHERE (NOT is_own);
CREATE INDEX series_label_series ON public.series_label USING btree (series_id, label_id) INCLUDE (is_own);
CREATE INDEX series_match_due ON public.series_match USING btree (source_id, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX series_match_latest ON public.series_match USING btree (source_id, matched_at DESC);
CREATE INDEX series_one_shot ON public.series USING btree (id) WHERE (one_shot AND (book_count > 0));
CREATE INDEX series_publisher_key ON public.series USING btree (folded(publisher), id) WHERE (book_count > 0);
CREATE INDEX series_reading_completed ON public.series_reading USING btree (account_id, last_completed_at, series_id) WHERE ((read_count > 0) AND (started_count = 0));
CREATE INDEX series_reading_recent ON public.series_reading USING btree (account_id, last_read_at, series_id);
CREATE INDEX series_reading_series ON public.series_reading USING btree (series_id);
CREATE INDEX series_refresh_series ON public.series_refresh USING btree (series_id);
CREATE INDEX series_search_text ON public.series_search USING gin (text gin_trgm_ops);
CREATE INDEX series_sharing_tag_tag ON public.series_sharing_tag USING btree (tag_id);
CREATE INDEX series_title_key ON public.series USING btree (library_id, search_key);
CREATE INDEX series_tracked ON public.series_tracking USING btree (series_id) WHERE tracked;
CREATE INDEX series_unchanged ON public.series USING btree (id) WHERE ((date_trunc('second'::text, (updated_at AT TIME ZONE 'UTC'::text)) = date_trunc('second'::text, (created_at AT TIME ZONE 'UTC'::text))) AND (book_count > 0));
CREATE INDEX series_updated_in_library ON public.series USING btree (library_id, updated_at, id) WHERE (book_count > 0);
CREATE INDEX session_account ON public.session USING btree (account_id);
CREATE INDEX session_expiry ON public.session USING btree (expires_at);
CREATE INDEX setting_change_key ON public.setting_change USING btree (key, changed_at DESC, id DESC);
CREATE UNIQUE INDEX sharing_tag_name_unique ON public.sharing_tag USING btree (lower(name));
CREATE INDEX source_failure_newest ON public.source_failure USING btree (source_id, id DESC);
CREATE INDEX user_rating_recent ON public.user_rating USING btree (account_id, updated_at, id);
CREATE INDEX user_rating_series ON public.user_rating USING btree (series_id) INCLUDE (rating);
CREATE INDEX want_to_read_book ON public.want_to_read USING btree (book_id) WHERE (book_id IS NOT NULL);
CREATE INDEX want_to_read_series ON public.want_to_read USING btree (series_id) WHERE (series_id IS NOT NULL);
CREATE OR REPLACE FUNCTION public.add_book_summaries()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into book_summary (book_id, series_id, is_present, key)
  select id, series_id, missing_at is null, folded(summary) from added where summary is not null;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.check_book_places()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;
CREATE OR REPLACE FUNCTION public.check_moved_book()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;
CREATE OR REPLACE FUNCTION public.check_no_books()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;
CREATE OR REPLACE FUNCTION public.copy_book_to_read_list()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  select b.series_id, b.age_rating, b.missing_at is null
  into new.series_id, new.age_rating, new.is_present
  from book b where b.id = new.book_id for share;
  return new;
end $function$;
CREATE OR REPLACE FUNCTION public.copy_book_to_read_lists()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update read_list_book set series_id = new.series_id, age_rating = new.age_rating,
    is_present = new.missing_at is null
  where book_id = new.id;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.delete_book_rows()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from book_artifact where book_id in (select id from deleted);
  delete from book_pages where book_id in (select id from deleted);
  delete from book_summary where book_id in (select id from deleted);
  delete from book_search where book_id in (select id from deleted);
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.folded(value text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
declare
  plain text;
begin
  if octet_length(value) = length(value) then return lower(value); end if;
  plain := lower(regexp_replace(normalize(value, nfd), '[\u0300-\u036f]', '', 'g'));
  if octet_length(plain) = length(plain) then return plain; end if;
  return normalize(plain, nfc);
end $function$;
CREATE OR REPLACE FUNCTION public.note_account_changes_account()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then perform pg_notify('account', named::text) from (select id as named from new_rows) c; elsif tg_op = 'DELETE' then perform pg_notify('account', named::text) from (select id as named from old_rows) c; else perform pg_notify('account', named::text) from ((select id as named, username, email, password_hash, role, permissions, is_active, email_verified, all_libraries, age_limit, shows_unrated from new_rows except select id, username, email, password_hash, role, permissions, is_active, email_verified, all_libraries, age_limit, shows_unrated from old_rows)
      union all (select id, username, email, password_hash, role, permissions, is_active, email_verified, all_libraries, age_limit, shows_unrated from old_rows except select id, username, email, password_hash, role, permissions, is_active, email_verified, all_libraries, age_limit, shows_unrated from new_rows)) c; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_account_library_changes_account()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then perform pg_notify('account', named::text) from (select account_id as named from new_rows) c; elsif tg_op = 'DELETE' then perform pg_notify('account', named::text) from (select account_id as named from old_rows) c; else perform pg_notify('account', named::text) from (select account_id as named from new_rows union all select account_id from old_rows) c; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_account_sharing_tag_changes_account()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then perform pg_notify('account', named::text) from (select account_id as named from new_rows) c; elsif tg_op = 'DELETE' then perform pg_notify('account', named::text) from (select account_id as named from old_rows) c; else perform pg_notify('account', named::text) from (select account_id as named from new_rows union all select account_id from old_rows) c; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_api_key_changes_account()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then perform pg_notify('account', named::text) from (select account_id as named from new_rows) c; elsif tg_op = 'DELETE' then perform pg_notify('account', named::text) from (select account_id as named from old_rows) c; else perform pg_notify('account', named::text) from ((select account_id as named, id, permissions, is_active, expires_at, secret_sha256 from new_rows except select account_id, id, permissions, is_active, expires_at, secret_sha256 from old_rows)
      union all (select account_id, id, permissions, is_active, expires_at, secret_sha256 from old_rows except select account_id, id, permissions, is_active, expires_at, secret_sha256 from new_rows)) c; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_book_changes_book()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('book', ' ')), 1, case when cardinality(ids) <= 10000 then ids end, null
      from (select array_agg(named) as ids from (select distinct named from (select id as named from new_rows) c limit 10001) d) c
      where ids is not null; elsif tg_op = 'DELETE' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('book', ' ')), 1, case when cardinality(ids) <= 10000 then ids end, null
      from (select array_agg(named) as ids from (select distinct named from (select id as named from old_rows) c limit 10001) d) c
      where ids is not null; else insert into list_change (subject, count, books, series)
      select unnest(string_to_array('book', ' ')), 1, case when cardinality(ids) <= 10000 then ids end, null
      from (select array_agg(named) as ids from (select distinct named from (select id as named from new_rows union all select id from old_rows) c limit 10001) d) c
      where ids is not null; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_book_search_changes_book()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('book', ' ')), 1, case when cardinality(ids) <= 10000 then ids end, null
      from (select array_agg(named) as ids from (select distinct named from (select book_id as named from new_rows) c limit 10001) d) c
      where ids is not null; elsif tg_op = 'DELETE' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('book', ' ')), 1, case when cardinality(ids) <= 10000 then ids end, null
      from (select array_agg(named) as ids from (select distinct named from (select book_id as named from old_rows) c limit 10001) d) c
      where ids is not null; else insert into list_change (subject, count, books, series)
      select unnest(string_to_array('book', ' ')), 1, case when cardinality(ids) <= 10000 then ids end, null
      from (select array_agg(named) as ids from (select distinct named from ((select book_id as named, text from new_rows except select book_id, text from old_rows)
      union all (select book_id, text from old_rows except select book_id, text from new_rows)) c limit 10001) d) c
      where ids is not null; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_changes_of(source text, operations text, columns text, stale text, names text, id text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
end $function$;
CREATE OR REPLACE FUNCTION public.note_collection_series_changes_grouping()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('grouping', ' ')), 1, null, null
      from (select array_agg(named) as ids from (select distinct named from (select collection_id as named from new_rows) c limit 2) d) c
      where ids is not null; elsif tg_op = 'DELETE' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('grouping', ' ')), 1, null, null
      from (select array_agg(named) as ids from (select distinct named from (select collection_id as named from old_rows) c limit 2) d) c
      where ids is not null; else insert into list_change (subject, count, books, series)
      select unnest(string_to_array('grouping', ' ')), 1, null, null
      from (select array_agg(named) as ids from (select distinct named from ((select collection_id as named, series_id from new_rows except select collection_id, series_id from old_rows)
      union all (select collection_id, series_id from old_rows except select collection_id, series_id from new_rows)) c limit 2) d) c
      where ids is not null; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_directory_changes_book()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('book', ' ')), 1, null, null
      from (select array_agg(named) as ids from (select distinct named from (select id as named from new_rows) c limit 2) d) c
      where ids is not null; elsif tg_op = 'DELETE' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('book', ' ')), 1, null, null
      from (select array_agg(named) as ids from (select distinct named from (select id as named from old_rows) c limit 2) d) c
      where ids is not null; else insert into list_change (subject, count, books, series)
      select unnest(string_to_array('book', ' ')), 1, null, null
      from (select array_agg(named) as ids from (select distinct named from ((select id as named, path from new_rows except select id, path from old_rows)
      union all (select id, path from old_rows except select id, path from new_rows)) c limit 2) d) c
      where ids is not null; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_external_reference_changes_series()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('series', ' ')), 1, null, null
      from (select array_agg(named) as ids from (select distinct named from (select id as named from new_rows) c limit 2) d) c
      where ids is not null; elsif tg_op = 'DELETE' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('series', ' ')), 1, null, null
      from (select array_agg(named) as ids from (select distinct named from (select id as named from old_rows) c limit 2) d) c
      where ids is not null; else insert into list_change (subject, count, books, series)
      select unnest(string_to_array('series', ' ')), 1, null, null
      from (select array_agg(named) as ids from (select distinct named from (select id as named from new_rows union all select id from old_rows) c limit 2) d) c
      where ids is not null; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_label_changes_book_series_label()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('book series label', ' ')), 1, '{}'::uuid[], null
      from (select array_agg(named) as ids from (select distinct named from (select id as named from new_rows) c limit 2) d) c
      where ids is not null; elsif tg_op = 'DELETE' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('book series label', ' ')), 1, '{}'::uuid[], null
      from (select array_agg(named) as ids from (select distinct named from (select id as named from old_rows) c limit 2) d) c
      where ids is not null; else insert into list_change (subject, count, books, series)
      select unnest(string_to_array('book series label', ' ')), 1, '{}'::uuid[], null
      from (select array_agg(named) as ids from (select distinct named from ((select id as named, kind, key, name, spellings from new_rows except select id, kind, key, name, spellings from old_rows)
      union all (select id, kind, key, name, spellings from old_rows except select id, kind, key, name, spellings from new_rows)) c limit 2) d) c
      where ids is not null; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_library_changes_schedule()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then perform pg_notify('schedule', named::text) from (select id as named from new_rows) c; elsif tg_op = 'DELETE' then perform pg_notify('schedule', named::text) from (select id as named from old_rows) c; else perform pg_notify('schedule', named::text) from ((select id as named, scanning_config, is_active, deleting_at, root from new_rows except select id, scanning_config, is_active, deleting_at, root from old_rows)
      union all (select id, scanning_config, is_active, deleting_at, root from old_rows except select id, scanning_config, is_active, deleting_at, root from new_rows)) c; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_progress_changes_account()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then insert into account_list_change (account_id, count) select distinct named, 1 from (select account_id as named from new_rows) c; elsif tg_op = 'DELETE' then insert into account_list_change (account_id, count) select distinct named, 1 from (select account_id as named from old_rows) c; else insert into account_list_change (account_id, count) select distinct named, 1 from (select account_id as named from new_rows union all select account_id from old_rows) c; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_read_list_book_changes_grouping()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('grouping', ' ')), 1, null, null
      from (select array_agg(named) as ids from (select distinct named from (select read_list_id as named from new_rows) c limit 2) d) c
      where ids is not null; elsif tg_op = 'DELETE' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('grouping', ' ')), 1, null, null
      from (select array_agg(named) as ids from (select distinct named from (select read_list_id as named from old_rows) c limit 2) d) c
      where ids is not null; else insert into list_change (subject, count, books, series)
      select unnest(string_to_array('grouping', ' ')), 1, null, null
      from (select array_agg(named) as ids from (select distinct named from ((select read_list_id as named, book_id from new_rows except select read_list_id, book_id from old_rows)
      union all (select read_list_id, book_id from old_rows except select read_list_id, book_id from new_rows)) c limit 2) d) c
      where ids is not null; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_release_source_changes_schedule()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then perform pg_notify('schedule', named::text) from (select id as named from new_rows) c; elsif tg_op = 'DELETE' then perform pg_notify('schedule', named::text) from (select id as named from old_rows) c; else perform pg_notify('schedule', named::text) from ((select id as named, enabled, cron_schedule from new_rows except select id, enabled, cron_schedule from old_rows)
      union all (select id, enabled, cron_schedule from old_rows except select id, enabled, cron_schedule from new_rows)) c; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_series_changes_book()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('book', ' ')), 1, null, case when cardinality(ids) <= 10000 then ids end
      from (select array_agg(named) as ids from (select distinct named from (select id as named from new_rows) c limit 10001) d) c
      where ids is not null; elsif tg_op = 'DELETE' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('book', ' ')), 1, null, case when cardinality(ids) <= 10000 then ids end
      from (select array_agg(named) as ids from (select distinct named from (select id as named from old_rows) c limit 10001) d) c
      where ids is not null; else insert into list_change (subject, count, books, series)
      select unnest(string_to_array('book', ' ')), 1, null, case when cardinality(ids) <= 10000 then ids end
      from (select array_agg(named) as ids from (select distinct named from ((select id as named, library_id, age_rating, lowest_age, sort_key, one_shot, credit_key, author_key, book_count = 0 from new_rows except select id, library_id, age_rating, lowest_age, sort_key, one_shot, credit_key, author_key, book_count = 0 from old_rows)
      union all (select id, library_id, age_rating, lowest_age, sort_key, one_shot, credit_key, author_key, book_count = 0 from old_rows except select id, library_id, age_rating, lowest_age, sort_key, one_shot, credit_key, author_key, book_count = 0 from new_rows)) c limit 10001) d) c
      where ids is not null; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_series_changes_series()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('series', ' ')), 1, null, null
      from (select array_agg(named) as ids from (select distinct named from (select id as named from new_rows) c limit 2) d) c
      where ids is not null; elsif tg_op = 'DELETE' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('series', ' ')), 1, null, null
      from (select array_agg(named) as ids from (select distinct named from (select id as named from old_rows) c limit 2) d) c
      where ids is not null; else insert into list_change (subject, count, books, series)
      select unnest(string_to_array('series', ' ')), 1, null, null
      from (select array_agg(named) as ids from (select distinct named from (select id as named from new_rows union all select id from old_rows) c limit 2) d) c
      where ids is not null; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_series_label_changes_book_series()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('book series', ' ')), 1, null, case when cardinality(ids) <= 10000 then ids end
      from (select array_agg(named) as ids from (select distinct named from (select series_id as named from new_rows) c limit 10001) d) c
      where ids is not null; elsif tg_op = 'DELETE' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('book series', ' ')), 1, null, case when cardinality(ids) <= 10000 then ids end
      from (select array_agg(named) as ids from (select distinct named from (select series_id as named from old_rows) c limit 10001) d) c
      where ids is not null; else insert into list_change (subject, count, books, series)
      select unnest(string_to_array('book series', ' ')), 1, null, case when cardinality(ids) <= 10000 then ids end
      from (select array_agg(named) as ids from (select distinct named from (select series_id as named from new_rows union all select series_id from old_rows) c limit 10001) d) c
      where ids is not null; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_series_reading_changes_account()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then insert into account_list_change (account_id, count) select distinct named, 1 from (select account_id as named from new_rows) c; elsif tg_op = 'DELETE' then insert into account_list_change (account_id, count) select distinct named, 1 from (select account_id as named from old_rows) c; else insert into account_list_change (account_id, count) select distinct named, 1 from (select account_id as named from new_rows union all select account_id from old_rows) c; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_series_search_changes_book_series()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('book series', ' ')), 1, '{}'::uuid[], null
      from (select array_agg(named) as ids from (select distinct named from (select series_id as named from new_rows) c limit 2) d) c
      where ids is not null; elsif tg_op = 'DELETE' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('book series', ' ')), 1, '{}'::uuid[], null
      from (select array_agg(named) as ids from (select distinct named from (select series_id as named from old_rows) c limit 2) d) c
      where ids is not null; else insert into list_change (subject, count, books, series)
      select unnest(string_to_array('book series', ' ')), 1, '{}'::uuid[], null
      from (select array_agg(named) as ids from (select distinct named from ((select series_id as named, text from new_rows except select series_id, text from old_rows)
      union all (select series_id, text from old_rows except select series_id, text from new_rows)) c limit 2) d) c
      where ids is not null; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_series_sharing_tag_changes_book_series()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('book series', ' ')), 1, null, case when cardinality(ids) <= 10000 then ids end
      from (select array_agg(named) as ids from (select distinct named from (select series_id as named from new_rows) c limit 10001) d) c
      where ids is not null; elsif tg_op = 'DELETE' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('book series', ' ')), 1, null, case when cardinality(ids) <= 10000 then ids end
      from (select array_agg(named) as ids from (select distinct named from (select series_id as named from old_rows) c limit 10001) d) c
      where ids is not null; else insert into list_change (subject, count, books, series)
      select unnest(string_to_array('book series', ' ')), 1, null, case when cardinality(ids) <= 10000 then ids end
      from (select array_agg(named) as ids from (select distinct named from (select series_id as named from new_rows union all select series_id from old_rows) c limit 10001) d) c
      where ids is not null; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_series_tracking_changes_series()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('series', ' ')), 1, null, null
      from (select array_agg(named) as ids from (select distinct named from (select series_id as named from new_rows) c limit 2) d) c
      where ids is not null; elsif tg_op = 'DELETE' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('series', ' ')), 1, null, null
      from (select array_agg(named) as ids from (select distinct named from (select series_id as named from old_rows) c limit 2) d) c
      where ids is not null; else insert into list_change (subject, count, books, series)
      select unnest(string_to_array('series', ' ')), 1, null, null
      from (select array_agg(named) as ids from (select distinct named from ((select series_id as named, tracked from new_rows except select series_id, tracked from old_rows)
      union all (select series_id, tracked from old_rows except select series_id, tracked from new_rows)) c limit 2) d) c
      where ids is not null; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_session_changes_account()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then perform pg_notify('account', named::text) from (select account_id as named from new_rows) c; elsif tg_op = 'DELETE' then perform pg_notify('account', named::text) from (select account_id as named from old_rows) c; else perform pg_notify('account', named::text) from ((select account_id as named, id, revoked_at from new_rows except select account_id, id, revoked_at from old_rows)
      union all (select account_id, id, revoked_at from old_rows except select account_id, id, revoked_at from new_rows)) c; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_sharing_tag_changes_series()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('series', ' ')), 1, null, null
      from (select array_agg(named) as ids from (select distinct named from (select id as named from new_rows) c limit 2) d) c
      where ids is not null; elsif tg_op = 'DELETE' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('series', ' ')), 1, null, null
      from (select array_agg(named) as ids from (select distinct named from (select id as named from old_rows) c limit 2) d) c
      where ids is not null; else insert into list_change (subject, count, books, series)
      select unnest(string_to_array('series', ' ')), 1, null, null
      from (select array_agg(named) as ids from (select distinct named from ((select id as named, name from new_rows except select id, name from old_rows)
      union all (select id, name from old_rows except select id, name from new_rows)) c limit 2) d) c
      where ids is not null; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_source_changes_schedule()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then perform pg_notify('schedule', named::text) from (select id as named from new_rows) c; elsif tg_op = 'DELETE' then perform pg_notify('schedule', named::text) from (select id as named from old_rows) c; else perform pg_notify('schedule', named::text) from ((select id as named, enabled from new_rows except select id, enabled from old_rows)
      union all (select id, enabled from old_rows except select id, enabled from new_rows)) c; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_user_rating_changes_account()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then insert into account_list_change (account_id, count) select distinct named, 1 from (select account_id as named from new_rows) c; elsif tg_op = 'DELETE' then insert into account_list_change (account_id, count) select distinct named, 1 from (select account_id as named from old_rows) c; else insert into account_list_change (account_id, count) select distinct named, 1 from (select account_id as named from new_rows union all select account_id from old_rows) c; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_user_rating_changes_rating()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('rating', ' ')), 1, null, null
      from (select array_agg(named) as ids from (select distinct named from (select id as named from new_rows) c limit 2) d) c
      where ids is not null; elsif tg_op = 'DELETE' then insert into list_change (subject, count, books, series)
      select unnest(string_to_array('rating', ' ')), 1, null, null
      from (select array_agg(named) as ids from (select distinct named from (select id as named from old_rows) c limit 2) d) c
      where ids is not null; else insert into list_change (subject, count, books, series)
      select unnest(string_to_array('rating', ' ')), 1, null, null
      from (select array_agg(named) as ids from (select distinct named from (select id as named from new_rows union all select id from old_rows) c limit 2) d) c
      where ids is not null; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.note_want_to_read_changes_account()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$begin if tg_op = 'INSERT' then insert into account_list_change (account_id, count) select distinct named, 1 from (select account_id as named from new_rows) c; elsif tg_op = 'DELETE' then insert into account_list_change (account_id, count) select distinct named, 1 from (select account_id as named from old_rows) c; else insert into account_list_change (account_id, count) select distinct named, 1 from (select account_id as named from new_rows union all select account_id from old_rows) c; end if; return null; end$function$;
CREATE OR REPLACE FUNCTION public.number_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;
CREATE OR REPLACE FUNCTION public.series_name_key(folded_name text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select coalesce(nullif(regexp_replace(regexp_replace(replace(folded_name, '&', ' and '),
    '^\s*(the|a|an)\s+', ''), '[\s!-/:-@\[-`{-~\u2010-\u2027\u00b7]+', '', 'g'), ''), folded_name)
$function$;
CREATE OR REPLACE FUNCTION public.stamp_schedule()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.schedule_changed_at := now();
  return new;
end $function$;
CREATE OR REPLACE FUNCTION public.stamp_series_metadata()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.metadata_changed_at := now();
  return new;
end $function$;
CREATE OR REPLACE FUNCTION public.sync_book_search()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update book_search
  set series_id = new.series_id, is_present = new.missing_at is null, sort_key = new.sort_key
  where book_id = new.id;
  return null;
end $function$;
CREATE OR REPLACE FUNCTION public.sync_book_summary()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;
CREATE TRIGGER account_delete_changes_account AFTER DELETE ON public.account REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_account_changes_account();
CREATE TRIGGER account_library_delete_changes_account AFTER DELETE ON public.account_library REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_account_library_changes_account();
CREATE TRIGGER account_library_insert_changes_account AFTER INSERT ON public.account_library REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_account_library_changes_account();
CREATE TRIGGER account_library_update_changes_account AFTER UPDATE ON public.account_library REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_account_library_changes_account();
CREATE TRIGGER account_sharing_tag_delete_changes_account AFTER DELETE ON public.account_sharing_tag REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_account_sharing_tag_changes_account();
CREATE TRIGGER account_sharing_tag_insert_changes_account AFTER INSERT ON public.account_sharing_tag REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_account_sharing_tag_changes_account();
CREATE TRIGGER account_sharing_tag_update_changes_account AFTER UPDATE ON public.account_sharing_tag REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_account_sharing_tag_changes_account();
CREATE TRIGGER account_update_changes_account AFTER UPDATE ON public.account REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_account_changes_account();
CREATE TRIGGER api_key_delete_changes_account AFTER DELETE ON public.api_key REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_api_key_changes_account();
CREATE TRIGGER api_key_update_changes_account AFTER UPDATE ON public.api_key REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_api_key_changes_account();
CREATE TRIGGER book_copied_to_read_lists AFTER UPDATE OF series_id, age_rating, missing_at ON public.book FOR EACH ROW WHEN (((old.series_id <> new.series_id) OR (old.age_rating IS DISTINCT FROM new.age_rating) OR ((old.missing_at IS NULL) <> (new.missing_at IS NULL)))) EXECUTE FUNCTION copy_book_to_read_lists();
CREATE TRIGGER book_delete_changes_book AFTER DELETE ON public.book REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_book_changes_book();
CREATE TRIGGER book_insert_changes_book AFTER INSERT ON public.book REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_book_changes_book();
CREATE TRIGGER book_move_checked AFTER UPDATE OF series_id, directory_id, library_id ON public.book FOR EACH ROW WHEN ((((old.series_id IS DISTINCT FROM new.series_id) OR (old.directory_id IS DISTINCT FROM new.directory_id)) OR (old.library_id IS DISTINCT FROM new.library_id))) EXECUTE FUNCTION check_moved_book();
CREATE TRIGGER book_places_checked AFTER INSERT ON public.book REFERENCING NEW TABLE AS stored FOR EACH STATEMENT EXECUTE FUNCTION check_book_places();
CREATE TRIGGER book_rows_deleted AFTER DELETE ON public.book REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION delete_book_rows();
CREATE TRIGGER book_search_delete_changes_book AFTER DELETE ON public.book_search REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_book_search_changes_book();
CREATE TRIGGER book_search_insert_changes_book AFTER INSERT ON public.book_search REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_book_search_changes_book();
CREATE TRIGGER book_search_sync AFTER UPDATE OF series_id, missing_at, sort_key ON public.book FOR EACH ROW WHEN ((((old.series_id IS DISTINCT FROM new.series_id) OR ((old.missing_at IS NULL) IS DISTINCT FROM (new.missing_at IS NULL))) OR (old.sort_key IS DISTINCT FROM new.sort_key))) EXECUTE FUNCTION sync_book_search();
CREATE TRIGGER book_search_update_changes_book AFTER UPDATE ON public.book_search REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_book_search_changes_book();
CREATE TRIGGER book_summary_added AFTER INSERT ON public.book REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION add_book_summaries();
CREATE TRIGGER book_summary_sync AFTER UPDATE OF summary, series_id, missing_at ON public.book FOR EACH ROW WHEN ((((old.summary IS DISTINCT FROM new.summary) OR (old.series_id IS DISTINCT FROM new.series_id)) OR ((old.missing_at IS NULL) IS DISTINCT FROM (new.missing_at IS NULL)))) EXECUTE FUNCTION sync_book_summary();
CREATE TRIGGER book_update_changes_book AFTER UPDATE ON public.book REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_book_changes_book();
CREATE TRIGGER collection_series_delete_changes_grouping AFTER DELETE ON public.collection_series REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_collection_series_changes_grouping();
CREATE TRIGGER collection_series_insert_changes_grouping AFTER INSERT ON public.collection_series REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_collection_series_changes_grouping();
CREATE TRIGGER collection_series_update_changes_grouping AFTER UPDATE ON public.collection_series REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_collection_series_changes_grouping();
CREATE TRIGGER directory_update_changes_book AFTER UPDATE ON public.directory REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_directory_changes_book();
CREATE TRIGGER directory_without_books AFTER DELETE ON public.directory REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION check_no_books();
CREATE CONSTRAINT TRIGGER event_numbered AFTER INSERT ON public.event DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION number_event();
CREATE TRIGGER external_reference_delete_changes_series AFTER DELETE ON public.external_reference REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_external_reference_changes_series();
CREATE TRIGGER external_reference_insert_changes_series AFTER INSERT ON public.external_reference REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_external_reference_changes_series();
CREATE TRIGGER external_reference_update_changes_series AFTER UPDATE ON public.external_reference REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_external_reference_changes_series();
CREATE TRIGGER label_delete_changes_book_series_label AFTER DELETE ON public.label REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_label_changes_book_series_label();
CREATE TRIGGER label_insert_changes_book_series_label AFTER INSERT ON public.label REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_label_changes_book_series_label();
CREATE TRIGGER label_update_changes_book_series_label AFTER UPDATE ON public.label REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_label_changes_book_series_label();
CREATE TRIGGER library_delete_changes_schedule AFTER DELETE ON public.library REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_library_changes_schedule();
CREATE TRIGGER library_insert_changes_schedule AFTER INSERT ON public.library REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_library_changes_schedule();
CREATE TRIGGER library_schedule_stamp BEFORE UPDATE OF scanning_config, is_active ON public.library FOR EACH ROW WHEN (((old.scanning_config IS DISTINCT FROM new.scanning_config) OR (old.is_active IS DISTINCT FROM new.is_active))) EXECUTE FUNCTION stamp_schedule();
CREATE TRIGGER library_update_changes_schedule AFTER UPDATE ON public.library REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_library_changes_schedule();
CREATE TRIGGER progress_delete_changes_account AFTER DELETE ON public.progress REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_progress_changes_account();
CREATE TRIGGER progress_insert_changes_account AFTER INSERT ON public.progress REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_progress_changes_account();
CREATE TRIGGER progress_update_changes_account AFTER UPDATE ON public.progress REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_progress_changes_account();
CREATE TRIGGER read_list_book_copied BEFORE INSERT ON public.read_list_book FOR EACH ROW EXECUTE FUNCTION copy_book_to_read_list();
CREATE TRIGGER read_list_book_delete_changes_grouping AFTER DELETE ON public.read_list_book REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_read_list_book_changes_grouping();
CREATE TRIGGER read_list_book_insert_changes_grouping AFTER INSERT ON public.read_list_book REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_read_list_book_changes_grouping();
CREATE TRIGGER read_list_book_update_changes_grouping AFTER UPDATE ON public.read_list_book REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_read_list_book_changes_grouping();
CREATE TRIGGER release_source_delete_changes_schedule AFTER DELETE ON public.release_source REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_release_source_changes_schedule();
CREATE TRIGGER release_source_insert_changes_schedule AFTER INSERT ON public.release_source REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_release_source_changes_schedule();
CREATE TRIGGER release_source_schedule_stamp BEFORE UPDATE OF enabled, cron_schedule ON public.release_source FOR EACH ROW WHEN (((old.enabled IS DISTINCT FROM new.enabled) OR (old.cron_schedule IS DISTINCT FROM new.cron_schedule))) EXECUTE FUNCTION stamp_schedule();
CREATE TRIGGER release_source_update_changes_schedule AFTER UPDATE ON public.release_source REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_release_source_changes_schedule();
CREATE TRIGGER series_delete_changes_book AFTER DELETE ON public.series REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_series_changes_book();
CREATE TRIGGER series_delete_changes_series AFTER DELETE ON public.series REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_series_changes_series();
CREATE TRIGGER series_insert_changes_book AFTER INSERT ON public.series REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_series_changes_book();
CREATE TRIGGER series_insert_changes_series AFTER INSERT ON public.series REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_series_changes_series();
CREATE TRIGGER series_label_delete_changes_book_series AFTER DELETE ON public.series_label REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_series_label_changes_book_series();
CREATE TRIGGER series_label_insert_changes_book_series AFTER INSERT ON public.series_label REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_series_label_changes_book_series();
CREATE TRIGGER series_label_update_changes_book_series AFTER UPDATE ON public.series_label REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_series_label_changes_book_series();
CREATE TRIGGER series_metadata_changed BEFORE UPDATE OF title, publisher, language, reading_direction ON public.series FOR EACH ROW WHEN (((((old.title IS DISTINCT FROM new.title) OR (old.publisher IS DISTINCT FROM new.publisher)) OR (old.language IS DISTINCT FROM new.language)) OR (old.reading_direction IS DISTINCT FROM new.reading_direction))) EXECUTE FUNCTION stamp_series_metadata();
CREATE TRIGGER series_reading_delete_changes_account AFTER DELETE ON public.series_reading REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_series_reading_changes_account();
CREATE TRIGGER series_reading_insert_changes_account AFTER INSERT ON public.series_reading REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_series_reading_changes_account();
CREATE TRIGGER series_reading_update_changes_account AFTER UPDATE ON public.series_reading REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_series_reading_changes_account();
CREATE TRIGGER series_search_delete_changes_book_series AFTER DELETE ON public.series_search REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_series_search_changes_book_series();
CREATE TRIGGER series_search_insert_changes_book_series AFTER INSERT ON public.series_search REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_series_search_changes_book_series();
CREATE TRIGGER series_search_update_changes_book_series AFTER UPDATE ON public.series_search REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_series_search_changes_book_series();
CREATE TRIGGER series_sharing_tag_delete_changes_book_series AFTER DELETE ON public.series_sharing_tag REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_series_sharing_tag_changes_book_series();
CREATE TRIGGER series_sharing_tag_insert_changes_book_series AFTER INSERT ON public.series_sharing_tag REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_series_sharing_tag_changes_book_series();
CREATE TRIGGER series_sharing_tag_update_changes_book_series AFTER UPDATE ON public.series_sharing_tag REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_series_sharing_tag_changes_book_series();
CREATE TRIGGER series_tracking_delete_changes_series AFTER DELETE ON public.series_tracking REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_series_tracking_changes_series();
CREATE TRIGGER series_tracking_insert_changes_series AFTER INSERT ON public.series_tracking REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_series_tracking_changes_series();
CREATE TRIGGER series_tracking_update_changes_series AFTER UPDATE ON public.series_tracking REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_series_tracking_changes_series();
CREATE TRIGGER series_update_changes_book AFTER UPDATE ON public.series REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_series_changes_book();
CREATE TRIGGER series_update_changes_series AFTER UPDATE ON public.series REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_series_changes_series();
CREATE TRIGGER series_without_books AFTER DELETE ON public.series REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION check_no_books();
CREATE TRIGGER session_delete_changes_account AFTER DELETE ON public.session REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_session_changes_account();
CREATE TRIGGER session_update_changes_account AFTER UPDATE ON public.session REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_session_changes_account();
CREATE TRIGGER sharing_tag_update_changes_series AFTER UPDATE ON public.sharing_tag REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_sharing_tag_changes_series();
CREATE TRIGGER source_update_changes_schedule AFTER UPDATE ON public.source REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_source_changes_schedule();
CREATE TRIGGER user_rating_delete_changes_account AFTER DELETE ON public.user_rating REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_user_rating_changes_account();
CREATE TRIGGER user_rating_delete_changes_rating AFTER DELETE ON public.user_rating REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_user_rating_changes_rating();
CREATE TRIGGER user_rating_insert_changes_account AFTER INSERT ON public.user_rating REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_user_rating_changes_account();
CREATE TRIGGER user_rating_insert_changes_rating AFTER INSERT ON public.user_rating REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_user_rating_changes_rating();
CREATE TRIGGER user_rating_update_changes_account AFTER UPDATE ON public.user_rating REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_user_rating_changes_account();
CREATE TRIGGER user_rating_update_changes_rating AFTER UPDATE ON public.user_rating REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_user_rating_changes_rating();
CREATE TRIGGER want_to_read_delete_changes_account AFTER DELETE ON public.want_to_read REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_want_to_read_changes_account();
CREATE TRIGGER want_to_read_insert_changes_account AFTER INSERT ON public.want_to_read REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_want_to_read_changes_account();
CREATE TRIGGER want_to_read_update_changes_account AFTER UPDATE ON public.want_to_read REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_want_to_read_changes_account();
CREATE SEQUENCE event_number_sequence;
CREATE STATISTICS public.book_file_name ON lower(encode(name, 'escape'::text) COLLATE "C") FROM book;
CREATE STATISTICS public.book_type ON (extra_metadata ->> 'bookType'::text) FROM book;
