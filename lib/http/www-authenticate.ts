// What apps are told that came to a catalogue without credentials, or with bad ones: to ask their user
// for a name and a password (RFC 7617), and where the catalogue says so itself (Authentication for
// OPDS 1.0, https://drafts.opds.io/authentication-for-opds-1.0).
import type { FastifyRequest } from 'fastify'
import { authenticationAddress, authenticationDocument } from '../opds/json/authentication.ts'
import { authenticationType as type } from '../opds/json/media.ts'
import { linksFrom } from '../opds/links.ts'
import { treeAt } from '../opds/tree.ts'
import { readSetting } from '../setting/setting.ts'
import type { Deps } from './deps.ts'
import type { Asked } from './error-response.ts'

/** Null for addresses that are of no catalogue. */
export async function challenge(
  deps: Pick<Deps, 'sql'>,
  { base, entered, routeOptions }: FastifyRequest,
): Promise<Asked | null> {
  const version = routeOptions.config?.catalogue
  if (version === undefined || entered === null) return null
  // A key in the path that is no good is not repeated.
  const at = entered.key === null ? treeAt(entered, 2) : '/opds/v2'
  const links = linksFrom(base, { version: 2, at, key: null })
  // While the database is away, whoever it knows is refused no less politely.
  const name = String(await readSetting(deps.sql, 'application.name').catch(() => usual))
  return {
    headers: {
      'www-authenticate': `Basic realm="${realm(name)}", charset="UTF-8"`,
      link: `<${authenticationAddress(links)}>; rel="http://opds-spec.org/auth/document"; type="${type}"`,
    },
    document:
      version === 2 ? { type, text: JSON.stringify(authenticationDocument(links, name)) } : null,
  }
}

const usual = 'Stackroom'

/** A name in the letters that a header may hold (RFC 9110 §5.6.4). */
function realm(name: string): string {
  const plain = name.normalize('NFKD').replace(/[^\x20-\x7e]/g, '')
  return (plain.trim() || usual).replace(/["\\]/g, '\\$&')
}
