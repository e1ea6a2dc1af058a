// OPDS as a protocol: its trees and the keys in their paths, its challenge, and what its documentation states.
import type { FastifyRequest } from 'fastify'
import { forwardedHeaders } from '../../../http/cache-headers.ts'
import type { Deps } from '../../../http/deps.ts'
import type { Challenge, Protocol } from '../../../http/protocol.ts'
import { openSettings } from '../../../store/setting/setting.ts'
import {
  type CatalogPath,
  canonicalPath,
  parseCatalogPath,
  prefixFor,
} from '../../publication/catalog-path.ts'
import { createLinks } from '../../publication/links.ts'
import { progressionType, authenticationType as type } from '../../publication/media-types.ts'
import { authenticationAddress, authenticationDocument } from '../json/publication.ts'

export const opdsProtocol: Protocol = {
  roots: ['opds', 'opds-comics'],
  rewrite(path, { accept }, { opds }) {
    const catalog = parseCatalogPath(path, accept)
    if (catalog === null || (catalog.apiKey !== null && !opds.key_in_path)) return path
    return canonicalPath(path, catalog)
  },
  credential(request) {
    const { apiKey = null } = catalogOf(request) ?? {}
    return apiKey === null ? null : { kind: 'key', secret: apiKey, isInUrl: true }
  },
  challenge: authenticationChallenge,
  varyOf: request => [forwardedHeaders, ...(catalogOf(request)?.isNegotiated ? ['Accept'] : [])],
  document: {
    tags: {
      opds: 'Catalogs for reading apps: OPDS 1.2 below /opds/v1, OPDS 2.0 below /opds/v2.',
    },
    // Feeds can be limited to a library, which may be hidden.
    statuses: ['404'],
    challenges: { Challenge: null, ChallengeDocument: type },
    challengeOf: path => (path.startsWith('/opds/v2') ? 'ChallengeDocument' : 'Challenge'),
  },
}

/** Routes of the catalogs. */
export const inCatalog = { atRoot: true, protocol: opdsProtocol } as const

/** Where apps read the contents of books: in the OPDS 2.0 catalog, and in the API, with the cookie for media. */
export const readingPlaces = [
  {
    ...{ name: 'Opds2', folder: '/opds/v2', mediaType: progressionType },
    ...{ place: inCatalog, media: inCatalog },
  },
  {
    ...{ name: 'Book', folder: '', mediaType: 'application/json' },
    ...{ place: {}, media: { cookie: true } as const },
  },
] as const

/** Basic (RFC 7617), and Authentication for OPDS 1.0 (https://drafts.opds.io/authentication-for-opds-1.0). */
async function authenticationChallenge(
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

/** Null for paths outside the catalogs. */
export const catalogOf = ({ sentPath, headers }: FastifyRequest): CatalogPath | null =>
  parseCatalogPath(sentPath, headers.accept)
