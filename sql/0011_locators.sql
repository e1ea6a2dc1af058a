-- Reading apps name places by the addresses that they were given: with the API key, where it stood in
-- the path. Keys are not to be kept in clear, nor told to other apps (lib/opds/kept-locator.ts).
update book_locator set
  device = regexp_replace(
    regexp_replace(device::text, '(opds)(/|%2F)k(/|%2F)((?!%2F)[^/?#"\\[:space:]])+', '\1', 'gi'),
    'stackroom_[0-9a-f]{16}_[0-9a-f]{32,128}', 'key', 'gi')::jsonb,
  locator = regexp_replace(
    regexp_replace(locator::text, '(opds)(/|%2F)k(/|%2F)((?!%2F)[^/?#"\\[:space:]])+', '\1', 'gi'),
    'stackroom_[0-9a-f]{16}_[0-9a-f]{32,128}', 'key', 'gi')::jsonb
where concat(device, locator) ~* 'opds(/|%2F)k(/|%2F)|stackroom_[0-9a-f]{16}_';
