// How to sign in, for apps that were refused (Authentication for OPDS 1.0).
import { line } from '../../metadata/text.ts'
import type { Links } from '../links.ts'
import { authenticationType, feedType } from './media.ts'

/** The address of the document, in whichever catalogue the client is. */
export const authenticationAddress = (links: Links): string => `${links.root(2)}/auth`

/** `server` is the name of this server. Anyone may read it. */
export function authenticationDocument(links: Links, server: string): object {
  const id = authenticationAddress(links)
  const title = line(server) ?? 'Library'
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
