-- What happens, as it happens: events for the streams, schedules, watching, shared rate limits.

-- One row tells of one kind of event in one library: of the books in `book_ids` (with their series at the
-- same place of `series_ids`), else of the series in `series_ids`, else of the library itself. Written
-- in the transaction of the change; readers follow `number`.
create table event (
  id         bigint generated always as identity primary key,
  -- Number of the last of its events; the first is number - count + 1. Given when the transaction
  -- commits, in the order of commits, so that whoever has read up to a number has missed nothing below it.
  number     bigint,
  stream     text not null default 'entity',
  type       text not null,
  count      integer not null,
  library_id uuid,
  series_ids uuid[],
  book_ids   uuid[],
  -- What changed; null: anything may have.
  fields     text[],
  -- Only this account gets it.
  account_id uuid,
  -- Of tasks and scans: the whole message but its time.
  data       jsonb,
  -- What tells whether a viewer saw a thing that is gone (lib/event/audience.ts).
  audience   jsonb,
  at         timestamptz not null default clock_timestamp(),
  constraint event_stream_known check (stream in ('entity', 'task', 'scan'))
);
create unique index event_number on event (number);
create sequence event_number_sequence;
-- When the server was started that gave the last number. One that crashes may lose its last commits,
-- and with them numbers that clients have seen: the next begins far above them.
create table event_server (started_at timestamptz not null);
insert into event_server values (pg_postmaster_start_time());

create function number_event() returns trigger language plpgsql as $$
declare
  last bigint;
begin
  -- Until the commit is done: NOTIFY has commits wait for each other just the same.
  perform pg_advisory_xact_lock(hashtext('stackroom.event'));
  if (select started_at from event_server) <> pg_postmaster_start_time() then
    update event_server set started_at = pg_postmaster_start_time();
    perform setval('event_number_sequence', nextval('event_number_sequence') + 1000000);
  end if;
  last := setval('event_number_sequence', nextval('event_number_sequence') + new.count - 1);
  -- The time as well: rows grow old in the order of their numbers, whatever their transactions took.
  update event set number = last, at = clock_timestamp() where id = new.id;
  perform pg_notify('event', last::text);
  return null;
end $$;
create constraint trigger event_numbered after insert on event
  deferrable initially deferred for each row execute function number_event();

-- A slot of a schedule that a process took; whoever comes second finds it taken.
create table schedule_slot (
  job        text not null,
  slot       timestamptz not null,
  claimed_at timestamptz not null default now(),
  primary key (job, slot)
);
create index schedule_slot_age on schedule_slot (slot);

-- When the schedule was last changed: an older slot is none of its own.
alter table library add column scheduled_at timestamptz not null default now();
create function date_schedule() returns trigger language plpgsql as $$
begin
  new.scheduled_at := now();
  return new;
end $$;
create trigger library_scheduled before update of scanning_config, is_active on library
  for each row when
    ((old.scanning_config, old.is_active) is distinct from (new.scanning_config, new.is_active))
  execute function date_schedule();
create function tell_schedule() returns trigger language plpgsql as $$
begin
  perform pg_notify('schedule', coalesce(new.id, old.id)::text);
  return null;
end $$;
create trigger library_schedule_made after insert or delete on library
  for each row execute function tell_schedule();
create trigger library_schedule_changed after update of scanning_config, is_active, deleting_at, root
  on library for each row
  when ((old.scanning_config, old.is_active, old.deleting_at, old.root)
    is distinct from (new.scanning_config, new.is_active, new.deleting_at, new.root))
  execute function tell_schedule();

-- How the folder of a library is watched now, as the process that does it last said.
create table library_watch (
  library_id uuid primary key references library on delete cascade,
  mode       text not null,
  -- Why it is not watched as it was meant to be.
  message    text,
  since      timestamptz not null default now(),
  seen_at    timestamptz not null default now(),
  constraint library_watch_mode_known check (mode in ('watching', 'polling'))
);

alter table scan add column series_added integer not null default 0;
create index scan_age on scan (finished_at) where finished_at is not null;

-- What clients may still ask for, over all processes. Lost in a crash, which nobody minds.
create unlogged table rate_bucket (
  key     text primary key,
  tokens  double precision not null,
  -- What whoever asked last was given of them.
  granted double precision not null,
  at      timestamptz not null
);
create index rate_bucket_age on rate_bucket (at);
