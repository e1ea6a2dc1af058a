-- When what books show of their series last changed: catalogues tell readers of it as a change of the
-- books. updated_at moves with every count as well.
alter table series add column said_at timestamptz;
create function date_series() returns trigger language plpgsql as $$
begin
  new.said_at := now();
  return new;
end $$;
create trigger series_said before update of title, publisher, language, reading_direction on series
  for each row when
    ((old.title, old.publisher, old.language, old.reading_direction)
      is distinct from (new.title, new.publisher, new.language, new.reading_direction))
  execute function date_series();
