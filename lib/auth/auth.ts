// All that signing in and checking credentials needs, opened once in a process.
import type { Config } from '../config/config.ts'
import type { Log } from '../log.ts'
import type { Sql } from '../postgres/db.ts'
import { type Identities, openIdentities } from './identify.ts'
import { type Mail, openPost } from './mail.ts'
import { type AccessTokens, accessTokens } from './token.ts'

export type Auth = {
  sql: Sql
  log: Log
  settings: Config['auth']
  tokens: AccessTokens
  identities: Identities
  /** Null when no mail server is configured. */
  readonly mail: Mail | null
  /** Lets what is under way end, and stops listening. */
  close(): Promise<void>
}

/** Throws when the database cannot be listened to. */
export async function openAuth({
  sql,
  config,
  log,
}: {
  sql: Sql
  config: Pick<Config, 'auth' | 'email'>
  log: Log
}): Promise<Auth> {
  const life = {
    get minutes() {
      return config.auth.access_token_minutes
    },
  }
  const tokens = accessTokens(sql, life)
  const identities = await openIdentities(sql, tokens, log)
  const post = openPost(config.email, log)
  return {
    sql,
    log,
    settings: config.auth,
    tokens,
    identities,
    get mail() {
      return post.mail()
    },
    async close() {
      await post.close()
      await identities.close()
    },
  }
}
