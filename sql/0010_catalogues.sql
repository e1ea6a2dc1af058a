-- The lowest age at which a series shows any of its present books; 0 with one that has no rating. Lists
-- for readers with an age limit ask no book by it. Settled like genres, checked by the doctor.
alter table series add column lowest_age integer not null default 0;
update series s set lowest_age = b.age
from (
  select series_id, min(coalesce(age_rating, 0)) as age from book
  where missing_at is null
  group by series_id
) b
where b.series_id = s.id and b.age > 0;

drop index series_by_title;
create index series_by_title on series (sort_key, id) include (library_id, book_count, age_rating, lowest_age)
  where book_count > 0;
drop index series_by_publisher;
create index series_by_publisher on series (publisher, id) include (library_id, age_rating, lowest_age)
  where book_count > 0;

-- What was released last in a library.
create index book_released_in_library on book (library_id, released desc nulls last, id desc)
  where missing_at is null and released is not null;
