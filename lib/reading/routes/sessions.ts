// Reading sessions measured by clients, received in batches, and the checks of each of them.
import type { JSONValue } from 'postgres'
import { Check } from 'typebox/schema'
import { recordsReading } from '../../accounts/permission.ts'
import {
  body,
  component,
  list,
  name,
  oneOf,
  optional,
  type Static,
  Type,
  text,
  timestamp,
  uuid,
} from '../../base/schema.ts'
import { words } from '../../base/words.ts'
import { route } from '../../http/route.ts'
import {
  type ClientLocator,
  maxLocatorBytes,
  ReadiumLocator,
} from '../../protocols/publication/locator.ts'
import { storedLocator } from '../../protocols/publication/progression.ts'
import { clientDevice } from '../device.ts'
import type { PositionUpdate } from '../position.ts'
import { Progress, progressRecord } from '../progress/progress-record.ts'
import { recordSessions, type SessionWrite } from '../record.ts'

const maxSessions = 500
const writePermission = { any: recordsReading } as const

const number = (description: string) => optional(Type.Number({ description }))

const ReadingSession = component('ReadingSession', {
  id: uuid({
    description:
      'Chosen by the client. An id that was sent before is accepted and changes nothing.',
  }),
  bookId: uuid(),
  deviceId: name(128, { description: 'A stable id of the device.' }),
  deviceName: optional(text(200, { description: 'A name to show to the user.' })),
  kind: oneOf(['progress', 'completed', 'reset'], {
    description: '`reset` marks the book as unread at the end of the session.',
  }),
  toPage: number('Last page shown, starting at 1.'),
  toPercentage: number('Position from 0 to 1.'),
  r2Progression: optional(
    text(maxLocatorBytes, {
      description:
        "Where the reader stopped: a Readium locator as JSON, or a progression that contains one. The book's progression returns it while the session is the newest. Anything else is ignored.",
    }),
  ),
  activeDurationMs: number(
    'Reading time in milliseconds; at most the time between start and end is counted.',
  ),
  pagesRead: number('Number of pages read.'),
  clientStartedAt: timestamp({ description: "Start of the session by the client's clock." }),
  clientEndedAt: timestamp({
    description:
      "End of the session by the client's clock. If it is in the future, the session is moved to end now.",
  }),
})

const rejectionReasons = [
  ...words('book_not_found invalid_time_range invalid_percentage invalid_measurement'),
  ...words('duplicate_in_batch limit_reached'),
] as const
type RejectionReason = (typeof rejectionReasons)[number]

const Rejection = component('ReadingSessionRejection', {
  id: uuid(),
  reason: oneOf(rejectionReasons),
})

export const readingSessions = [
  route('POST /reading-sessions', {
    operationId: 'recordReadingSessions',
    permission: writePermission,
    summary: 'Record reading sessions',
    description: `Up to ${maxSessions} sessions, of any age and in any order: the session that ended last decides the position. A session lasts at most seven days. Beyond 100,000 per account or 10,000 per book, sessions are rejected with \`limit_reached\`. The response has a result for each session, and the progress in their books.`,
    body: body('ReadingSessionBatch', {
      sessions: list(ReadingSession, { maxItems: maxSessions }),
    }),
    responses: {
      200: component('RecordedReadingSessions', {
        accepted: list(uuid()),
        rejected: list(Rejection),
        progress: list(Progress),
      }),
    },
    async handle({ body, viewer }, { sql }) {
      const { sessions, rejected } = checkSessions(body.sessions.map(toSession))
      const { notFound, excess, progress } = await recordSessions(sql, viewer, sessions)
      const ids = sessions.map(({ id }) => id)
      return {
        accepted: ids.filter(id => !notFound.has(id) && !excess.has(id)),
        rejected: [
          ...rejected,
          ...[...notFound].map(id => ({ id, reason: 'book_not_found' as const })),
          ...[...excess].map(id => ({ id, reason: 'limit_reached' as const })),
        ],
        progress: progress.map(progressRecord),
      }
    },
  }),
]

function toSession(sent: Static<typeof ReadingSession>): SentSession {
  const locator = parseLocator(sent.r2Progression)
  const isPlaced = sent.toPage != null || sent.toPercentage != null
  const total = isPlaced ? null : (locator?.locations?.totalProgression ?? null)
  const stored =
    locator &&
    storedLocator({
      device: { id: sent.deviceId, name: sent.deviceName || sent.deviceId },
      modified: new Date(sent.clientEndedAt),
      locator,
    })
  return {
    // PostgreSQL returns ids in lower case, and they are compared.
    ...{ id: sent.id.toLowerCase(), bookId: sent.bookId.toLowerCase(), kind: sent.kind },
    device: clientDevice({ id: sent.deviceId, name: sent.deviceName ?? null }),
    startedAt: new Date(sent.clientStartedAt),
    endedAt: new Date(sent.clientEndedAt),
    toPage: sent.toPage ?? null,
    toPercentage: sent.toPercentage ?? total,
    activeDurationMs: sent.activeDurationMs ?? null,
    pagesRead: sent.pagesRead ?? null,
    ...(stored ? { locator: { ...stored, readium: stored.readium as JSONValue } } : {}),
  }
}

function parseLocator(text: string | null | undefined): ClientLocator | null {
  if (!text) return null
  try {
    const value: unknown = JSON.parse(text)
    const { locator = value } = Object(value)
    return isStorable(text) && Check(ReadiumLocator, locator) ? (locator as ClientLocator) : null
  } catch {
    return null
  }
}

/** Escapes of null characters and unpaired surrogates cannot be stored. */
const isStorable = (text: string) => !/\\u(?:0000|d[89a-f])/i.test(text)

/** A session as a client sent it; a text that is not a time becomes an invalid Date. */
type SentSession = Omit<SessionWrite, 'position' | 'measuredMs'> & {
  toPage: number | null
  toPercentage: number | null
  activeDurationMs: number | null
}

const maxSessionMs = 7 * 24 * 60 * 60_000
const maxInteger = 2_147_483_647

/** Splits sessions into those that can be recorded, and the others with their reasons. */
function checkSessions(sent: readonly SentSession[]): {
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
