// Reading sessions that clients measured themselves, a batch at a time.

import type { JSONValue } from 'postgres'
import { Check } from 'typebox/schema'
import { recordsReading } from '../../accounts/permission.ts'
import {
  body,
  list,
  maybe,
  name,
  nullable,
  oneOf,
  record,
  type Static,
  Type,
  text,
  timestamp,
  uuid,
} from '../../base/schema.ts'
import { route } from '../../http/route.ts'
import type { ClientLocator } from '../../protocols/opds/locator.ts'
import { storedLocator } from '../../protocols/opds/progression.ts'
import { maxLocatorBytes, ReadiumLocator } from '../../protocols/opds/readium-locator.ts'
import { clientDevice } from '../client-device.ts'
import { Progress, progressRecord } from '../progress/progress-record.ts'
import { recordSessions } from '../record.ts'
import { checkSessions, rejectionReasons, type SentSession } from '../session.ts'

const maxSessions = 500
const writePermission = { any: recordsReading } as const

const number = (description: string) => maybe(nullable(Type.Number({ description })))

const ReadingSession = record(
  {
    id: uuid({
      description:
        'Made by the client. An id that it has sent before is accepted and changes nothing.',
    }),
    bookId: uuid(),
    deviceId: name(128, { description: 'An id that the device does not change.' }),
    deviceName: maybe(nullable(text(200, { description: 'A name for the user.' }))),
    kind: oneOf(['progress', 'completed', 'reset'], {
      description: '`reset` marks the book as unread at the end of the session.',
    }),
    toPage: number('The last displayed page, starting at 1.'),
    toPercentage: number('Position from 0 to 1.'),
    r2Progression: maybe(
      nullable(
        text(maxLocatorBytes, {
          description:
            'Where the reader ended: JSON of a Readium locator, or of a progression with one. Returned by the progression of the book while the session is the newest. What is no locator is ignored.',
        }),
      ),
    ),
    activeDurationMs: number(
      'Time of reading in milliseconds; at most the time between start and end is counted.',
    ),
    pagesRead: number('Number of pages that were read.'),
    clientStartedAt: timestamp({ description: 'By the clock of the client.' }),
    clientEndedAt: timestamp({
      description:
        'By the clock of the client. If it is in the future, the session is moved to end now.',
    }),
  },
  { component: 'ReadingSession' },
)

const Rejection = record(
  { id: uuid(), reason: oneOf(rejectionReasons) },
  { component: 'ReadingSessionRejection' },
)

export const readingSessions = [
  route({
    operationId: 'recordReadingSessions',
    method: 'POST',
    path: '/reading-sessions',
    permission: writePermission,
    summary: 'Record reading sessions',
    description: `At most ${maxSessions}, of any age and in any order: the session that ended last decides the position. A session lasts seven days at most. Beyond 100,000 of an account, or 10,000 of a book, they are rejected with \`limit_reached\`. The response has a result for each session, and the progress in their books.`,
    body: body(
      { sessions: list(ReadingSession, { maxItems: maxSessions }) },
      { component: 'ReadingSessionBatch' },
    ),
    responses: {
      200: record(
        { accepted: list(uuid()), rejected: list(Rejection), progress: list(Progress) },
        { component: 'RecordedReadingSessions' },
      ),
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
    // Ids are compared as PostgreSQL writes them.
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

/** Escapes of null characters and of halves of surrogate pairs cannot be stored. */
const isStorable = (text: string) => !/\\u(?:0000|d[89a-f])/i.test(text)
