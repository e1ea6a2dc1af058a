-- What libraries keep for their clients, and how they go.

alter table library
  -- Kept for clients; no number strategy has settings yet.
  add column number_config jsonb not null default '{}',
  -- Removed by a user: nobody sees it any more, and its rows are erased a batch at a time.
  add column deleting_at timestamptz;
-- The folder of one that goes is free for another.
drop index library_root_unique;
create unique index library_root_unique on library (sha256(root)) where deleting_at is null;

-- Whoever deletes a folder asks for its books, and the indexes on places are partial.
create index book_directory on book (directory_id);

-- What an age limit hides, by library.
create index book_rated on book (library_id, age_rating, series_id)
  where age_rating is not null and missing_at is null;
