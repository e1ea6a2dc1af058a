// Authentication document: how to sign in (Authentication for OPDS 1.0), for apps that got a 401.
import { singleLine } from '../../../media/metadata/text.ts'
import type { Links } from '../../publication/links.ts'
import { authenticationType, feedType } from '../../publication/media-types.ts'

/** URL of the document, also for clients of the OPDS 1.2 catalog. */
export const authenticationAddress = (links: Links): string => `${links.root(2)}/auth`

/** The document is public. */
export function authenticationDocument(links: Links, serverName: string): object {
  const id = authenticationAddress(links)
  const title = singleLine(serverName) ?? 'Library'
  return {
    id,
    title,
    description: `Sign in to ${title} with your account, or with an API key as the password.`,
    links: [
      { rel: 'self', href: id, type: authenticationType },
      { rel: 'start', href: links.root(2), type: feedType },
    ],
    authentication: [
      {
        type: 'http://opds-spec.org/auth/basic',
        labels: { login: 'User name or e-mail', password: 'Password or API key' },
      },
    ],
  }
}
