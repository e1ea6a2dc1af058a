// Authentication services of a process: access tokens, identity resolver, mail.
import type { Log } from '../base/log.ts'
import type { Config } from '../store/config/config.ts'
import type { Sql } from '../store/postgres/db.ts'
import { openSecrets } from '../store/secret/secrets.ts'
import { openIdentityResolver } from './identify.ts'
import { createMailer } from './mail.ts'
import { createAccessTokens } from './token.ts'

export type Auth = Awaited<ReturnType<typeof openAuth>>

/** Throws when it cannot listen for database notifications. */
export async function openAuth({
  sql,
  config,
  log,
}: {
  sql: Sql
  config: Pick<Config, 'auth' | 'email' | 'application' | 'data_dir' | 'secrets'>
  log: Log
}) {
  const lifetime = {
    get minutes() {
      return config.auth.access_token_minutes
    },
  }
  const tokens = createAccessTokens(sql, openSecrets(config), lifetime)
  const identities = await openIdentityResolver(sql, tokens, log)
  const mailer = createMailer(config, log)
  return {
    sql,
    log,
    settings: config.auth,
    tokens,
    identities,
    /** Null when no mail server is configured. */
    get mail() {
      return mailer.current()
    },
    /** Waits for pending mails and stops listening for account changes. */
    async close() {
      await mailer.close()
      await identities.close()
    },
  }
}
