// Sessions as clients send them, and the checks of each of them.
import type { PositionUpdate } from './position.ts'
import type { SessionWrite } from './record.ts'

export const rejectionReasons = [
  'book_not_found',
  'invalid_time_range',
  'invalid_percentage',
  'invalid_measurement',
  'duplicate_in_batch',
  'limit_reached',
] as const
export type RejectionReason = (typeof rejectionReasons)[number]

/** A session as a client sent it; a text that is not a time becomes an invalid Date. */
export type SentSession = Omit<SessionWrite, 'position' | 'measuredMs'> & {
  toPage: number | null
  toPercentage: number | null
  activeDurationMs: number | null
}

const maxSessionMs = 7 * 24 * 60 * 60_000
const maxInteger = 2_147_483_647

/** Splits sessions into those that can be recorded, and the others with their reasons. */
export function checkSessions(sent: readonly SentSession[]): {
  sessions: SessionWrite[]
  rejected: { id: string; reason: RejectionReason }[]
} {
  const ids = new Set<string>()
  const sessions: SessionWrite[] = []
  const rejected: { id: string; reason: RejectionReason }[] = []
  for (const session of sent) {
    const reason = ids.has(session.id) ? 'duplicate_in_batch' : reasonAgainst(session)
    ids.add(session.id)
    if (reason === null) sessions.push(toWrite(session))
    else rejected.push({ id: session.id, reason })
  }
  return { sessions, rejected }
}

function reasonAgainst(session: SentSession): RejectionReason | null {
  const { startedAt, endedAt, toPage, toPercentage, activeDurationMs, pagesRead } = session
  const length = endedAt.getTime() - startedAt.getTime()
  if (!(length >= 0 && length <= maxSessionMs && startedAt.getTime() >= 0))
    return 'invalid_time_range'
  if (toPercentage !== null && !(toPercentage >= 0 && toPercentage <= 1))
    return 'invalid_percentage'
  const isCount = (value: number | null, max: number) =>
    value === null || (Number.isInteger(value) && value >= 0 && value <= max)
  if (!isCount(activeDurationMs, Number.MAX_SAFE_INTEGER)) return 'invalid_measurement'
  return [pagesRead, toPage].every(value => isCount(value, maxInteger))
    ? null
    : 'invalid_measurement'
}

/** A duration is at most the time between start and end. */
function toWrite({
  toPage,
  toPercentage,
  activeDurationMs,
  ...session
}: SentSession): SessionWrite {
  const length = session.endedAt.getTime() - session.startedAt.getTime()
  const position: PositionUpdate = {
    currentPage: toPage ?? undefined,
    progressPercentage: toPercentage ?? undefined,
  }
  return {
    ...session,
    position: toPage === null && toPercentage === null ? null : position,
    measuredMs: activeDurationMs === null ? null : Math.min(activeDurationMs, length),
  }
}
