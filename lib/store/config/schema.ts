// Catalog of all configuration keys and runtime settings, one line each. docs/configuration.md is generated
// from it (`npm run docs`).
import { logLevels } from '../../base/log.ts'
import { networksProblem } from '../../base/networks.ts'
import { backgroundSettings } from './background-settings.ts'
import { type Key, keys } from './descriptor.ts'
import { reservedSegments } from './reserved-segments.ts'

const boot = keys('boot')
const reload = keys('reload')
const runtime = keys('runtime')

const rate = [1, 1_000_000] as const

export const catalog = {
  data_dir: boot.text(
    'data',
    "Directory for Stackroom's own files; must not be inside a library.",
    {
      variables: ['STACKROOM_DATA'],
    },
  ),

  'database.url': boot.optionalText(
    'libpq URL of an external PostgreSQL server (14 or newer); if empty, the bundled server is started.',
    {
      secret: true,
      variables: ['STACKROOM_DATABASE_URL'],
      pattern: '^postgres(ql)?://.',
      expected: 'a URL like postgres://user:password@host:5432/name',
    },
  ),
  'database.max_connections': boot.integer(
    10,
    [6, 1000],
    "Size of a process's connection pool. The API has a second one of the same size for reading.",
  ),
  'database.wait_seconds': boot.integer(
    15,
    [0, 3600],
    'How long startup waits for an external database that is unreachable, starting or out of connections.',
  ),

  'application.host': boot.text('127.0.0.1', 'Address to listen on; 0.0.0.0 for all interfaces.'),
  'application.port': boot.integer(8080, [0, 65_535], 'Port to listen on; 0 for any free port.'),
  'application.public_url': reload.optionalText(
    'External URL of this server, including the path prefix of a reverse proxy; if empty, it is derived from each request.',
    {
      pattern: '^https?://[^/?#\\s]+(?:/[^?#\\s]*)?$',
      expected: 'a URL like https://example.org/books',
    },
  ),
  'application.trusted_proxies': boot.optionalText(
    'Addresses and networks of reverse proxies whose X-Forwarded-* headers are trusted, separated by commas.',
  ),
  'application.drain_seconds': reload.integer(
    0,
    [0, 300],
    'Time between a shutdown signal and the actual shutdown; requests are still served, while /health/ready returns 503.',
  ),
  'application.name': runtime.text('Stackroom', 'Name of this server in clients and feeds.', {
    maxLength: 100,
  }),

  'api.enable_api_docs': boot.boolean(
    false,
    'Serve the interactive API reference; not intended for production.',
  ),
  'api.api_docs_path': boot.text('/docs', 'Path of the interactive API reference.', {
    pattern: '^/[\\w/-]+$',
    expected: 'a path like /docs',
  }),
  'api.cors_enabled': boot.boolean(true, 'Allow cross-origin requests from web pages (CORS).'),
  'api.cors_origins': reload.text(
    '*',
    'Allowed origins, separated by commas; * allows any origin, but without cookies.',
  ),
  'api.upload_mb': boot.integer(20, [1, 1000], 'Maximum size of an uploaded cover, in MiB.'),

  'list.index_mb': boot.integer(
    400,
    [0, 100_000],
    'Memory limit of the index of lists, in MiB: a catalog that needs more has none, and its lists take longer. 130 bytes for each book and 60 for each series; 0 disables the index.',
  ),
  'list.timeout_seconds': boot.integer(
    20,
    [1, 600],
    'Time limit for database statements of requests; a list that takes longer is answered with 503.',
  ),

  'web.enabled': boot.boolean(true, 'Serve the web application at /.'),

  'opds.key_in_path': reload.boolean(
    false,
    'Accept read-only API keys in the path (/opds/k/KEY/v1), for apps that do not support authentication.',
  ),

  'koreader.enabled': runtime.boolean(
    true,
    'Synchronize reading positions with KOReader, at /koreader.',
  ),

  'komga.enabled': runtime.boolean(
    false,
    'Serve a Komga-compatible API for reading apps, at /komga or the prefix below.',
  ),
  'komga.prefix': runtime.text(
    'komga',
    'First path segment of that API; in apps, enter the server address including it, such as https://example.org/komga.',
    {
      maxLength: 64,
      pattern: '^[A-Za-z0-9][A-Za-z0-9._~-]*$',
      expected: 'a path segment like komga: letters, digits, dots, hyphens and underscores',
      check: (value: string) =>
        reservedSegments.has(value.toLowerCase()) ? 'this path is already in use' : null,
    },
  ),
  'komga.bind': boot.optionalText(
    'Address and port of a separate server with that API at its root, for apps that do not accept a path; empty to disable it.',
    { pattern: '^.+:\\d{1,5}$', expected: 'an address and port like 0.0.0.0:25600' },
  ),

  'secrets.key_file': boot.optionalText(
    'File with the keys that encrypt secrets in the database (source credentials, access token keys); if empty, `stackroom.keys` in the data directory. Created if missing; all processes must use the same file.',
  ),

  'rate_limit.enabled': reload.boolean(true, 'Limit the request rate of clients.'),
  'rate_limit.anonymous_rps': reload.integer(
    10,
    rate,
    'Requests per second from an address without valid credentials.',
  ),
  'rate_limit.anonymous_burst': reload.integer(50, rate, 'Maximum burst of such requests.'),
  'rate_limit.authenticated_rps': reload.integer(50, rate, 'Requests per second per account.'),
  'rate_limit.authenticated_burst': reload.integer(200, rate, 'Maximum burst of such requests.'),
  // A browser that scrolls through covers sends over 500 requests a second on its six connections, 0.6 ms
  // each.
  'rate_limit.image_rps': reload.integer(500, rate, 'Image requests per second per account.'),
  'rate_limit.image_burst': reload.integer(4000, rate, 'Maximum burst of such requests.'),
  'rate_limit.login_per_minute': reload.integer(
    30,
    rate,
    'Sign-in attempts per minute per address.',
  ),
  'rate_limit.login_burst': reload.integer(30, rate, 'Maximum burst of such attempts.'),

  'auth.access_token_minutes': reload.integer(
    60,
    [1, 1440],
    'Lifetime of an access token; clients renew it with their refresh token.',
  ),
  'auth.refresh_token_days': reload.integer(30, [1, 3650], 'Sessions unused for this long expire.'),
  'auth.secure_cookie': reload.boolean(
    false,
    "Always set the cookie's Secure attribute; otherwise only on HTTPS requests.",
  ),
  'auth.email_confirmation_required': reload.boolean(
    false,
    'Registered accounts stay inactive until their e-mail address is confirmed.',
  ),
  'auth.registration_enabled': runtime.boolean(false, 'Allow anyone to register an account.'),

  'email.host': reload.optionalText('SMTP server; if empty, no mail is sent.'),
  'email.port': reload.integer(587, [1, 65_535], 'Port of the SMTP server.'),
  'email.secure': reload.boolean(
    false,
    'Use implicit TLS (port 465); otherwise STARTTLS if the server offers it.',
  ),
  'email.username': reload.optionalText('User name for the SMTP server.'),
  'email.password': reload.optionalText('Password for the SMTP server.', { secret: true }),
  'email.from': reload.text('Stackroom <stackroom@localhost>', 'Sender address of e-mails.'),
  'email.verification_url_base': reload.optionalText(
    'URL of the web application for links in e-mails; if empty, links use application.public_url, and if that is empty too, e-mails contain only the code.',
    { pattern: '^https?://.', expected: 'a URL like https://books.example.org' },
  ),
  'email.verification_hours': reload.integer(
    24,
    [1, 8760],
    'Validity of an e-mail confirmation code.',
  ),

  'filesystem.roots': reload.optionalText(
    'Restricts libraries and the directory browser to these folders, separated by commas; empty for no restriction. Libraries with `followLinks` may contain links to files in them.',
  ),

  'source.allowed_networks': reload.optionalText(
    'Non-public addresses and networks that metadata and release sources may access, separated by commas (192.168.1.10, 10.0.0.0/8).',
    { check: networksProblem },
  ),
  'plugins.dir': boot.optionalText(
    'Folder with plugins; empty for none. Each entry is an executable file, a module (.mjs, .js, .ts), or a folder with an executable file named plugin.',
  ),

  'metrics.bind': boot.optionalText(
    'Address and port of a separate server for /metrics, /health/live, /health/ready and /health/startup without authentication, for serve and worker; empty to disable it.',
    { pattern: '^.+:\\d{1,5}$', expected: 'an address and port like 127.0.0.1:9464' },
  ),

  'logging.level': reload.choice(logLevels, 'info', 'Minimum level of log messages.'),

  'pipeline.threads': boot.integer(
    0,
    [0, 256],
    'Number of threads that read books; 0 for one per core.',
  ),
  'pipeline.book_timeout_seconds': boot.integer(
    60,
    [1, 3600],
    'Maximum time for reading a book before it is recorded as failed.',
  ),
  'pipeline.book_memory_mb': boot.integer(
    512,
    [64, 65_536],
    'Maximum memory that a thread may use for one book, in MiB.',
  ),
  'pipeline.concurrent_scans': boot.integer(
    2,
    [1, 32],
    'Number of libraries that a process scans at the same time.',
  ),
  'pipeline.io_depth': boot.integer(
    0,
    // The most that one disk gets (lib/base/async/disk-queue.ts).
    [0, 48],
    "Number of concurrent file operations of a scan on a library's disk; 0 derives it from measured latency.",
  ),
  'pipeline.missing_brake_percent': reload.integer(
    25,
    [0, 100],
    'If a scan finds more than this share of a library missing, it marks no books as missing until confirmed; 100 disables the check.',
  ),

  'thumbnail.max_dimension': boot.integer(400, [100, 2000], 'Longest side of a cover, in pixels.'),
  'thumbnail.format': boot.choice(['jpeg', 'webp'], 'jpeg', 'Image format of covers.'),
  'thumbnail.quality': boot.integer(85, [1, 100], 'Image quality of covers.'),

  'files.entry_mb': boot.integer(
    256,
    [1, 65_536],
    'Maximum size of a page or other archive entry, in MiB.',
  ),
  'files.solid_mb': boot.integer(
    1024,
    [1, 2048],
    'Maximum size of an archive that has to be loaded into memory, in MiB.',
  ),
  'files.min_free_mb': reload.integer(
    200,
    [0, 1_048_576],
    'Scans, covers and the page cache pause when the data directory has less free disk space than this, in MiB, or than a third of the disk if that is less. 0 disables the check.',
  ),
  'files.cache_mb': boot.integer(
    1024,
    [0, 1_048_576],
    'Disk space for resized, rendered and extracted pages, in MiB; 0 disables the cache.',
  ),

  'backup.dir': reload.optionalText(
    'Folder for scheduled backups, outside of the data directory and best on another disk.',
  ),
  'backup.passphrase_file': reload.optionalText(
    'File whose first line is the passphrase that encrypts the key of the secrets in backups; if empty, they do not contain it.',
  ),

  ...backgroundSettings,
} satisfies Record<string, Key>
