// Reading sessions measured by clients, received in batches.

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
import { route } from '../../http/route.ts'
import {
  type ClientLocator,
  maxLocatorBytes,
  ReadiumLocator,
} from '../../protocols/publication/locator.ts'
import { storedLocator } from '../../protocols/publication/progression.ts'
import { clientDevice } from '../client-device.ts'
import { Progress, progressRecord } from '../progress/progress-record.ts'
import { recordSessions } from '../record.ts'
import { checkSessions, rejectionReasons, type SentSession } from '../session.ts'

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
