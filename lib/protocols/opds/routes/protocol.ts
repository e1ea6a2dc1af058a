// OPDS as a protocol: its trees and the keys in their paths, its challenge, and what its documentation states.
import { forwardedHeaders } from '../../../http/cache-headers.ts'
import type { Protocol } from '../../../http/protocol.ts'
import { canonicalPath, parseCatalogPath } from '../catalog-path.ts'
import { authenticationType } from '../media-types.ts'
import { catalogOf } from './catalog.ts'
import { authenticationChallenge } from './challenge.ts'

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
    challenges: { Challenge: null, ChallengeDocument: authenticationType },
    challengeOf: path => (path.startsWith('/opds/v2') ? 'ChallengeDocument' : 'Challenge'),
  },
}
