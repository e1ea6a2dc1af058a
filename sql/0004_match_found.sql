-- What was found on the source: title, year and address, so that results can be checked without another request.
alter table series_match add column found jsonb;
alter table book_match add column found jsonb;
