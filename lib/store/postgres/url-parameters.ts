// Parameters of database URLs: which are supported, and what to use in place of others.
import { Invalid } from '../../base/errors.ts'
import { tlsParameters } from './tls.ts'

/** The only value a parameter may have, because the driver supports nothing else. */
const onlyValues: Record<string, RegExp> = {
  channel_binding: /^(disable|prefer)$/,
  client_encoding: /^(auto|utf-?8)$/i,
  gssencmode: /^(disable|prefer)$/,
  load_balance_hosts: /^disable$/,
}
// A standby is useless here, because Stackroom writes.
const sessionAttributes = ['any', 'read-write', 'primary']
const supported = new Set([
  ...['user', 'password', 'host', 'port', 'dbname', 'connect_timeout', 'target_session_attrs'],
  ...['application_name', 'fallback_application_name', 'options', ...tlsParameters],
  ...Object.keys(onlyValues),
])

/** Ignored parameters of libpq (PostgreSQL 14 to 18), then of Prisma, JDBC, SQLAlchemy and other clients. */
const withoutUse = new Set([
  ...['hostaddr', 'passfile', 'require_auth', 'replication', 'requirepeer', 'service'],
  ...['servicefile', 'keepalives', 'keepalives_idle', 'keepalives_interval', 'keepalives_count'],
  ...['tcp_user_timeout', 'sslcompression', 'sslcertmode', 'sslcrldir', 'sslsni', 'sslkeylogfile'],
  ...['krbsrvname', 'gsslib', 'gssdelegation', 'scram_client_key', 'scram_server_key'],
  ...['min_protocol_version', 'max_protocol_version', 'authtype', 'tty'],
  ...['oauth_issuer', 'oauth_client_id', 'oauth_client_secret', 'oauth_scope'],
  ...['pgbouncer', 'pool_timeout', 'socket_timeout', 'statement_cache_size', 'uselibpqcompat'],
  ...['prepareThreshold', 'preparedStatementCacheQueries', 'prepared_statement_cache_size'],
  ...['socketTimeout', 'tcpKeepAlive', 'reWriteBatchedInserts', 'binaryTransfer', 'loggerLevel'],
  ...['prepare', 'idle_timeout', 'max_lifetime', 'encoding', 'charset'],
])
const tls = 'use sslmode (disable, prefer, require, verify-ca or verify-full)'
const schema = 'use options=-c%20search_path%3DNAME'
const poolSize = 'set database.max_connections instead'
const replacements: Record<string, string> = {
  ssl: tls,
  sslaccept: tls,
  sslfactory: tls,
  sslidentity: 'use sslcert and sslkey',
  requiressl: tls,
  tls,
  schema,
  currentSchema: schema,
  connection_limit: poolSize,
  max: poolSize,
  pool_size: poolSize,
  ApplicationName: 'use application_name',
  connectTimeout: 'use connect_timeout',
  loginTimeout: 'use connect_timeout',
  database: 'use dbname',
  db: 'use dbname',
  username: 'use user',
  targetServerType: 'use target_session_attrs',
}

export const isSupported = (name: string) => supported.has(name)

/** Throws Invalid naming a parameter or value that cannot be used. */
export function checkParameter(name: string, value: string) {
  if (!isSupported(name))
    throw new Invalid(`database.url: the parameter ${name} is not supported; ${adviceOn(name)}`)
  if (onlyValues[name] && !onlyValues[name].test(value))
    throw new Invalid(`database.url: ${name}=${value} is not supported; remove it`)
  if (name !== 'target_session_attrs' || sessionAttributes.includes(value)) return
  throw new Invalid(
    /^(read-only|standby|prefer-standby)$/.test(value)
      ? `database.url: target_session_attrs=${value} selects a read-only server; use read-write`
      : `database.url: target_session_attrs=${value} is not one of ${sessionAttributes.join(', ')}`,
  )
}

function adviceOn(name: string): string {
  if (withoutUse.has(name)) return 'remove it'
  return Object.hasOwn(replacements, name)
    ? replacements[name]!
    : 'settings of the server are passed as options=-c%20NAME%3DVALUE'
}
