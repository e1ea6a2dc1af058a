-- Who may come in, by what means, and what each may see.

alter table account
  -- Names of lib/auth/permission.ts beyond those of the role.
  add column permissions text[] not null default '{}',
  add column is_active boolean not null default true,
  add column email_verified boolean not null default true,
  -- False: only the libraries of account_library.
  add column all_libraries boolean not null default true,
  -- Highest age rating that is shown, in years; null shows all.
  add column age_limit integer,
  -- Whether books without an age rating are shown to an account with a limit.
  add column shows_unrated boolean not null default true,
  add column last_login_at timestamptz,
  -- Whoever signs in by name or by e-mail address means one account: no name is another's address.
  add constraint account_username_no_address
    check (position('@' in username) = 0 or lower(username) = lower(coalesce(email, '')));

create table account_library (
  account_id uuid not null references account on delete cascade,
  library_id uuid not null references library on delete cascade,
  primary key (account_id, library_id)
);
create index account_library_library on account_library (library_id);

-- One sign-in: its access tokens name it, its refresh tokens follow one another.
create table session (
  id           uuid primary key,
  account_id   uuid not null references account on delete cascade,
  created_at   timestamptz not null default now(),
  used_at      timestamptz not null default now(),
  expires_at   timestamptz not null,
  revoked_at   timestamptz
);
create index session_account on session (account_id);
create index session_expiry on session (expires_at);

-- A used token stays until its session ends: whoever shows it again has a copy.
create table refresh_token (
  sha256     bytea primary key,
  session_id uuid not null references session on delete cascade,
  created_at timestamptz not null default now(),
  used_at    timestamptz,
  -- Its answer seems to have been lost, and another was given instead.
  voided_at  timestamptz
);
create index refresh_token_session on refresh_token (session_id);

create table api_key (
  id           uuid primary key,
  account_id   uuid not null references account on delete cascade,
  name         text not null,
  -- The public part, `stackroom_<16 hex>`.
  prefix       text not null,
  secret_sha256 bytea not null,
  permissions  text[] not null,
  is_active    boolean not null default true,
  expires_at   timestamptz,
  last_used_at timestamptz,
  created_at   timestamptz not null default now(),
  updated_at   timestamptz not null default now(),
  constraint api_key_prefix_unique unique (prefix)
);
create index api_key_account on api_key (account_id, created_at);

create table email_verification (
  sha256     bytea primary key,
  account_id uuid not null references account on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index email_verification_account on email_verification (account_id);

-- Labels that an administrator puts on series so that rules of accounts can speak of them.
create table sharing_tag (
  id          uuid primary key,
  name        text not null,
  description text,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now()
);
create unique index sharing_tag_name_unique on sharing_tag (lower(name));

create table series_sharing_tag (
  series_id uuid not null references series on delete cascade,
  tag_id    uuid not null references sharing_tag on delete cascade,
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

alter table setting
  add column version integer not null default 1,
  add column updated_by uuid references account on delete set null;

create table setting_change (
  id         uuid primary key,
  key        text not null,
  old_value  jsonb,
  new_value  jsonb,
  account_id uuid references account on delete set null,
  -- The name as it was, for when the account is gone.
  username   text,
  reason     text,
  address    text,
  changed_at timestamptz not null default now()
);
create index setting_change_key on setting_change (key, changed_at desc, id desc);

-- Every process keeps who is signed in for a while; a change tells them to look again.
create function tell_account() returns trigger language plpgsql as $$
begin
  perform pg_notify('account', coalesce(new.account_id, old.account_id)::text);
  return null;
end $$;
create function tell_account_itself() returns trigger language plpgsql as $$
begin
  perform pg_notify('account', old.id::text);
  return null;
end $$;
create trigger account_changed after update of username, email, password_hash, role, permissions,
  is_active, email_verified, all_libraries, age_limit, shows_unrated or delete on account
  for each row execute function tell_account_itself();
create trigger session_changed after update of revoked_at or delete on session
  for each row execute function tell_account();
create trigger api_key_changed after update of permissions, is_active, expires_at, secret_sha256
  or delete on api_key for each row execute function tell_account();
create trigger account_library_changed after insert or update or delete on account_library
  for each row execute function tell_account();
create trigger account_sharing_tag_changed after insert or update or delete on account_sharing_tag
  for each row execute function tell_account();
