// Every key of the configuration: type, default, bounds, meaning. What needs no restart is a setting, not here.
import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox'
import { logLevels } from '../log.ts'

/** Notes on a key beside JSON Schema's: `secret` values are masked, `names` are further environment names, `shape` says a pattern in words. */
type Notes = { secret?: true; names?: string[]; shape?: string; pattern?: string }

const text = (value: string, description: string, notes: Notes = {}) =>
  Type.String({ default: value, description, minLength: 1, ...notes })
const maybeText = (description: string, { pattern, ...notes }: Notes = {}) =>
  Type.Union([Type.String(pattern ? { minLength: 1, pattern } : { minLength: 1 }), Type.Null()], {
    default: null,
    description,
    ...notes,
  })
const whole = (value: number, [minimum, maximum]: [number, number], description: string) =>
  Type.Integer({ default: value, minimum, maximum, description })
const yes = (value: boolean, description: string) => Type.Boolean({ default: value, description })
const choice = <const T extends readonly string[]>(
  values: T,
  value: T[number],
  description: string,
) => Type.Unsafe<T[number]>({ type: 'string', enum: [...values], default: value, description })
const section = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })

export const schema = section({
  data_dir: text('data', 'Where Stackroom keeps its own files; never a library.', {
    names: ['STACKROOM_DATA'],
  }),
  database: section({
    url: maybeText(
      'A PostgreSQL (14 or newer) of your own; empty starts the one that comes along.',
      {
        secret: true,
        names: ['STACKROOM_DATABASE_URL'],
        pattern: '^postgres(ql)?://.',
        shape: 'postgres://user:password@host:5432/name',
      },
    ),
    max_connections: whole(
      10,
      [6, 1000],
      'Most connections of a process; three are held while scans run. The API takes as many again for reading.',
    ),
  }),
  application: section({
    host: text('127.0.0.1', 'Address to listen on; 0.0.0.0 opens it to the network.'),
    port: whole(8080, [0, 65_535], 'Port to listen on; 0 takes a free one.'),
    public_url: maybeText(
      'Address of this server for the outside, with the path below which a proxy serves it; empty takes it from the requests.',
      {
        pattern: '^https?://[^/?#\\s]+(?:/[^?#\\s]*)?$',
        shape: 'an address, e.g. https://example.org/books',
      },
    ),
    trusted_proxies: maybeText(
      'Addresses and networks of reverse proxies, separated by commas, whose X-Forwarded headers count.',
    ),
    drain_seconds: whole(
      0,
      [0, 300],
      'How long a server that was told to end still takes requests, while /health/ready says 503.',
    ),
  }),
  api: section({
    enable_api_docs: yes(false, 'Serves the interactive reference; not meant for production.'),
    api_docs_path: text('/docs', 'Where the interactive reference is.', {
      pattern: '^/[\\w/-]+$',
      shape: 'a path, e.g. /docs',
    }),
    cors_enabled: yes(true, 'Lets web pages of other origins call the API.'),
    cors_origins: text(
      '*',
      'Origins that may, separated by commas; * is any, then without cookies.',
    ),
    upload_mb: whole(20, [1, 1000], 'Largest cover that can be uploaded.'),
  }),
  opds: section({
    key_in_path: yes(
      false,
      'Takes an API key that may only read as part of the address (/opds/k/KEY/v1), for apps that can send none otherwise.',
    ),
  }),
  rate_limit: section({
    enabled: yes(true, 'Limits how often a client may ask.'),
    anonymous_rps: whole(
      10,
      [1, 1_000_000],
      'Requests a second of an address that nobody signed in from.',
    ),
    anonymous_burst: whole(50, [1, 1_000_000], 'Most of them at once.'),
    authenticated_rps: whole(50, [1, 1_000_000], 'Requests a second of a user.'),
    authenticated_burst: whole(200, [1, 1_000_000], 'Most of them at once.'),
    image_rps: whole(200, [1, 1_000_000], 'Images a second of a user.'),
    image_burst: whole(1000, [1, 1_000_000], 'Most of them at once.'),
    login_per_minute: whole(30, [1, 1_000_000], 'Attempts a minute to sign in from an address.'),
    login_burst: whole(30, [1, 1_000_000], 'Most of them at once.'),
  }),
  auth: section({
    access_token_minutes: whole(
      60,
      [1, 1440],
      'How long an access token lasts; clients renew it with their refresh token.',
    ),
    refresh_token_days: whole(30, [1, 3650], 'A session that is not used for so long ends.'),
    secure_cookie: yes(
      false,
      'Always marks the cookie Secure; without it only requests that came by HTTPS get it so.',
    ),
    email_confirmation_required: yes(
      false,
      'Accounts that people register stay inactive until their address is confirmed.',
    ),
  }),
  email: section({
    host: maybeText('SMTP server; without it no mail is sent.'),
    port: whole(587, [1, 65_535], 'Port of the SMTP server.'),
    secure: yes(false, 'Speaks TLS from the first byte (port 465); else STARTTLS where offered.'),
    username: maybeText('User name at the SMTP server.'),
    password: maybeText('Password at the SMTP server.', { secret: true }),
    from: text('Stackroom <stackroom@localhost>', 'Sender of the mails.'),
    verification_url_base: maybeText(
      'Address of the web application for links in mails; without it they hold the bare code.',
      { pattern: '^https?://.', shape: 'https://books.example.org' },
    ),
    verification_hours: whole(24, [1, 8760], 'How long a confirmation by mail may take.'),
  }),
  filesystem: section({
    roots: maybeText(
      'Folders, separated by commas, in which libraries must lie and which administrators may browse; empty means all.',
    ),
  }),
  metrics: section({
    bind: maybeText(
      'Address and port of a server of its own that answers /metrics without sign-in; empty for none.',
      { pattern: '^.+:\\d{1,5}$', shape: '127.0.0.1:9464' },
    ),
  }),
  logging: section({
    level: choice(logLevels, 'info', 'Least important line that is written.'),
  }),
  pipeline: section({
    threads: whole(0, [0, 256], 'Threads that read books; 0 means one per core.'),
    book_timeout_seconds: whole(60, [1, 3600], 'A book that takes longer is given up.'),
    book_memory_mb: whole(512, [64, 65_536], 'Memory a thread may take for one book.'),
    missing_brake_percent: whole(
      25,
      [0, 100],
      'A scan that misses more than this share of a library marks nothing missing; 100 never brakes.',
    ),
  }),
  thumbnail: section({
    max_dimension: whole(400, [100, 2000], 'Longest side of a cover, in pixels.'),
    format: choice(['jpeg', 'webp'], 'jpeg', 'Image format of covers.'),
    quality: whole(85, [1, 100], 'Quality of covers.'),
  }),
  files: section({
    entry_mb: whole(256, [1, 65_536], 'Largest page or resource.'),
    solid_mb: whole(1024, [1, 2048], 'Largest archive that must be held in memory to be read.'),
    cache_mb: whole(
      1024,
      [0, 1_048_576],
      'Disk for pages that were resized, rendered or unpacked; 0 keeps none.',
    ),
  }),
})

/** Keys and sections that are read wherever they are used: SIGHUP is enough to change them. */
const live = [
  'application.drain_seconds',
  'application.public_url',
  'api.cors_origins',
  'opds.key_in_path',
  'rate_limit',
  'auth',
  'email',
  'filesystem.roots',
  'logging.level',
  'pipeline.missing_brake_percent',
]

export type Config = Readonly<{
  [S in keyof Raw]: Raw[S] extends object ? Readonly<Raw[S]> : Raw[S]
}>
type Raw = Static<typeof schema>

/** Dotted paths: `data_dir`, `database.url`. */
export type ConfigPath = {
  [S in keyof Raw & string]: Raw[S] extends object ? `${S}.${keyof Raw[S] & string}` : S
}[keyof Raw & string]

export type Scalar = string | number | boolean | null

/** One key, with what the schema says about it. */
export type Leaf = {
  path: ConfigPath
  schema: TSchema
  kind: 'string' | 'integer' | 'boolean'
  isNullable: boolean
  isSecret: boolean
  /** A running process follows a change, see reloadConfig. */
  reloads: boolean
  description: string
  default: Scalar
  /** What a right value is, in words. */
  expected: string
  /** Environment names; the first is made from the path. */
  names: string[]
}

export const leaves: ReadonlyMap<string, Leaf> = new Map(
  collect(schema, []).map(leaf => [leaf.path, leaf]),
)

type Described = Notes & {
  type?: string
  anyOf?: unknown
  enum?: string[]
  minimum?: number
  maximum?: number
  default?: Scalar
  description?: string
}

function collect(node: TSchema, path: string[]): Leaf[] {
  const { properties } = node as Partial<TObject>
  if (!properties) return [describe(node, path)]
  return Object.entries(properties).flatMap(([key, child]) => collect(child, [...path, key]))
}

function describe(node: TSchema, path: string[]): Leaf {
  const said = node as Described
  const kind = said.type === 'integer' || said.type === 'boolean' ? said.type : 'string'
  return {
    path: path.join('.') as ConfigPath,
    schema: node,
    kind,
    isNullable: said.anyOf !== undefined,
    isSecret: said.secret === true,
    reloads: live.includes(path[0]!) || live.includes(path.join('.')),
    description: said.description ?? '',
    default: said.default ?? null,
    expected: inWords(said, kind),
    names: [`STACKROOM_${path.join('__').toUpperCase()}`, ...(said.names ?? [])],
  }
}

function inWords(said: Described, kind: Leaf['kind']): string {
  if (said.enum) return `one of ${said.enum.join(', ')}`
  if (kind === 'integer') return `a whole number from ${said.minimum} to ${said.maximum}`
  if (kind === 'boolean') return 'true or false'
  return said.shape ? `like ${said.shape}` : 'a text that is not empty'
}
