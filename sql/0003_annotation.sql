-- What readers attach to places in books: bookmarks today; highlights and notes have the same form. A deleted one stays for
-- some time without its content, so that devices which were offline delete theirs, too (lib/reading/annotation).
create table annotation (
  account_id  uuid not null references account on delete cascade,
  -- Chosen by the client, which may repeat its request.
  id          uuid not null,
  book_id     uuid not null references book on delete cascade,
  kind        text not null,
  -- A Readium locator as written by the client, preserving member order.
  locator     json,
  -- The fraction of the book before the place, for the order in the book.
  progression double precision,
  -- The place as the device itself writes it, for example an XPointer.
  device_position text,
  -- The text of the book at the place.
  text        text,
  note        text,
  color       text,
  created_at  timestamptz(3) not null,
  -- Increases with each change of the account, so that a device that knows everything up to a time misses nothing.
  updated_at  timestamptz(3) not null,
  deleted_at  timestamptz(3),
  primary key (account_id, id),
  constraint annotation_change_unique unique (account_id, updated_at),
  constraint annotation_kind_known check (kind in ('bookmark', 'highlight', 'note')),
  constraint annotation_placed check (deleted_at is not null or locator is not null)
);
create index annotation_book on annotation (book_id);
create index annotation_place on annotation (account_id, book_id, progression, id)
  where deleted_at is null;
create index annotation_deleted on annotation (account_id, deleted_at) where deleted_at is not null;
