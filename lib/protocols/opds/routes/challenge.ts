// WWW-Authenticate challenge of the OPDS catalogs: Basic (RFC 7617) and the authentication document
// (Authentication for OPDS 1.0, https://drafts.opds.io/authentication-for-opds-1.0).
import type { FastifyRequest } from 'fastify'
import type { Deps } from '../../../http/deps.ts'
import type { Challenge } from '../../../http/protocol.ts'
import { openSettings } from '../../../store/setting/setting.ts'
import { prefixFor } from '../catalog-path.ts'
import { authenticationAddress, authenticationDocument } from '../json/authentication.ts'
import { createLinks } from '../links.ts'
import { authenticationType as type } from '../media-types.ts'
import { catalogOf } from './catalog.ts'

export async function authenticationChallenge(
  request: FastifyRequest,
  deps: Pick<Deps, 'services'>,
): Promise<Challenge> {
  const catalog = catalogOf(request)
  // A rejected key in the path is not repeated in links.
  const prefix = catalog?.apiKey === null ? prefixFor(catalog, 2) : '/opds/v2'
  const links = createLinks(request.base, { version: 2, prefix, apiKey: null })
  // Without a database the challenge is sent with the default name.
  const name = String(
    await deps
      .services(openSettings)
      .cached('application.name')
      .catch(() => defaultRealm),
  )
  return {
    headers: {
      'www-authenticate': `Basic realm="${realm(name)}", charset="UTF-8"`,
      link: `<${authenticationAddress(links)}>; rel="http://opds-spec.org/auth/document"; type="${type}"`,
    },
    document:
      catalog?.version === 2
        ? { type, text: JSON.stringify(authenticationDocument(links, name)) }
        : null,
  }
}

const defaultRealm = 'Stackroom'

/** A name limited to the characters that a quoted string may contain (RFC 9110 §5.6.4). */
function realm(name: string): string {
  const ascii = name.normalize('NFKD').replace(/[^\x20-\x7e]/g, '')
  return (ascii.trim() || defaultRealm).replace(/["\\]/g, '\\$&')
}
