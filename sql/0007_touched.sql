-- Whoever erases a series asks whether it waits to be settled; the table's key begins with the library.
create index touched_series_series on touched_series (series_id);
