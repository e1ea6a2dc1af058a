// KOReader sync as a protocol: its addresses, at /koreader and at the root, and its headers for signing in.
import type { Protocol } from '../../../http/protocol.ts'
import { parseKoreader } from '../credential.ts'

// KOReader appends its paths to the address as it was entered, with or without a slash at the end.
const doubleSlash = /^(\/koreader)?\/+(?=\/(?:users|syncs|healthcheck)(?:\/|$))/

export const koreaderProtocol: Protocol = {
  roots: ['koreader'],
  rewrite: path => path.replace(doubleSlash, '$1'),
  credential: ({ headers }) => parseKoreader(headers),
}
