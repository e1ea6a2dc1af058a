-- Books that still want a cover or a hash (pipeline/due.ts). They cost 30 µs a book over its way from
-- found to hashed, against two milliseconds at the least for the work itself, and make the question
-- "is anything due?" free when nothing is.
create index book_due_cover on book (library_id)
  where cover is null and cover_error is null and missing_at is null and error_code is null;
create index book_due_hash on book (library_id) where sha256 is null and missing_at is null;
