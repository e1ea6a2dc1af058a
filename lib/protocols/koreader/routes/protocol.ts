// KOReader sync as a protocol: its paths, below /koreader and at the root, and its sign-in headers.
import type { Protocol } from '../../../http/protocol.ts'
import { parseKoreader } from '../credential.ts'

// KOReader appends its paths to the address as entered, with or without a trailing slash.
const doubleSlash = /^(\/koreader)?\/+(?=\/(?:users|syncs|healthcheck)(?:\/|$))/

export const koreaderProtocol: Protocol = {
  roots: ['koreader'],
  rewrite: path => path.replace(doubleSlash, '$1'),
  credential: ({ headers }) => parseKoreader(headers),
}
