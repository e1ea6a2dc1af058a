// Checks for forbidden answers and contents.
import type { Hidden } from '../../test/kit/http/hidden.ts'
import type { Attack, Received } from './send.ts'

export type Fault = { fault: string; by: string; request: string; status: number; text: string }

type Rules = {
  /** Whether something is hidden from this caller. */
  hidden: Hidden | null
  /** Folders of the server, which no error names. */
  folders: readonly string[]
}

// A stack, and what the database or a library writes in its errors.
const inner =
  /\n\s+at |node:internal|node_modules|\.ts:\d|\/proc\/|select .+ from |syntax error at|violates \w+ constraint|pgboss/i

export function faultsOf(attack: Attack, answer: Received, { hidden, folders }: Rules): Fault[] {
  const { status, text, headers } = answer
  const requested = decoded(attack)
  const whole = `${text}\n${headers}`
  const found: string[] = []
  if (status >= 500) found.push('5xx')
  if (status >= 400 && (inner.test(text) || folders.some(folder => whole.includes(folder))))
    found.push('the error shows the inside of the server')
  if (hidden !== null) {
    const seen = hidden.secrets.filter(secret => !requested.includes(secret))
    const leaked = seen.filter(secret => whole.includes(secret))
    if (leaked.length > 0) found.push(`has hidden ${leaked.slice(0, 2).join()}`)
    const named = hidden.secrets.some(secret => attack.path.includes(secret))
    if (named && status < 400 && !isRemoval(attack)) found.push('answers for a hidden id')
    if (countsHidden(text)) found.push('counts what is hidden')
  }
  return found.map(fault => ({
    fault,
    by: attack.by,
    request: describe(attack),
    status,
    text: text.slice(0, 300),
  }))
}

export const describe = ({ method, path, body }: Attack) =>
  `${method} ${path} ${String(body ?? '').slice(0, 120)}`.slice(0, 300)

/** An unknown member has the same answer, 204; that a hidden one stays is seen in its rows. */
const isRemoval = ({ method, path }: Attack) =>
  method === 'DELETE' && /\/(?:collections|readlists)\/[^/]+\/(?:series|books)\//.test(path)

function decoded({ path, body }: Attack): string {
  return `${path} ${typeof body === 'string' ? body : ''}`
}

/** A first page that is not full has all there is. */
function countsHidden(text: string): boolean {
  if (!text.startsWith('{') || !text.includes('"total')) return false
  try {
    const { data, total, page, pageSize, content, totalElements, first, last } = JSON.parse(text)
    if (Array.isArray(data) && page === 1 && data.length < pageSize) return total !== data.length
    return Array.isArray(content) && first && last ? totalElements !== content.length : false
  } catch {
    return false
  }
}
