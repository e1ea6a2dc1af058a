-- Books are filtered by author, by way of the authors of their series.
drop function note_series_changes_book() cascade;
select note_changes_of('series', 'insert update delete',
  'library_id, age_rating, lowest_age, sort_key, one_shot, credit_key, author_key, book_count = 0',
  'book', 'series', 'id');
