// Payload schemas of the event streams, for the OpenAPI document. Every field is sent in snake_case and in
// camelCase (lib/store/event/sse-format.ts).
import { entityTypes } from '../../store/event/publish.ts'

const string = { type: 'string' }
const uuid = { type: 'string', format: 'uuid' }
const time = { type: 'string', format: 'date-time' }
const integer = { type: 'integer' }
const integers = (...names: string[]) => Object.fromEntries(names.map(name => [name, integer]))
const nullable = (schema: { type: string }) => ({ ...schema, type: [schema.type, 'null'] })

function message(component: string, description: string, fields: Record<string, object>) {
  const properties = Object.entries(fields).flatMap(([name, schema]) => [
    [name, schema],
    [name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()), schema],
  ])
  const all = { ...Object.fromEntries(properties), timestamp: time }
  return {
    component,
    type: 'object',
    description,
    properties: all,
    required: ['type', 'timestamp'],
  }
}

const ResyncMessage = message(
  'ResyncMessage',
  'Event `resync`: events were permanently lost, or what the account may see has changed (reason `account`); reload everything displayed.',
  { type: { const: 'resync' }, reason: string },
)
/** For `release_announced`; `release_source_polled` has the source ids and `had_error`. */
const releaseFields = {
  ledger_id: uuid,
  series_title: string,
  source_id: uuid,
  plugin_id: uuid,
  chapter: { type: 'number' },
  volume: { type: 'number' },
  language: nullable(string),
  had_error: { type: 'boolean' },
}
const EntityMessage = message(
  'EntityMessage',
  'A change in the catalog; `type` is also the event name.',
  {
    type: { type: 'string', enum: [...entityTypes] },
    book_id: uuid,
    series_id: uuid,
    library_id: uuid,
    entity_type: { type: 'string', enum: ['book', 'series', 'library'] },
    entity_id: uuid,
    user_id: uuid,
    fields: { type: 'array', items: string, description: 'Changed fields, if known.' },
    ...releaseFields,
  },
)
const TaskMessage = message('TaskMessage', 'Event `task_progress`.', {
  type: { const: 'task_progress' },
  task_id: uuid,
  task_type: string,
  status: string,
  progress: {
    type: 'object',
    properties: { current: integer, total: integer, message: nullable(string) },
  },
  error: string,
  library_id: nullable(uuid),
  started_at: nullable(time),
  completed_at: nullable(time),
})
const ScanMessage = message('ScanMessage', 'Event `scan_progress`.', {
  type: { const: 'scan_progress' },
  scan_id: uuid,
  library_id: uuid,
  status: string,
  mode: string,
  stage: nullable(string),
  files_total: nullable(integer),
  files_discovered: nullable(integer),
  ...integers('files_processed', 'series_created', 'books_added', 'books_changed'),
  ...integers('books_moved', 'books_missing', 'books_restored', 'errors', 'bytes_read'),
  files_per_second: nullable({ type: 'number' }),
  ...integers('covers_total', 'covers_made', 'hashes_total', 'hashes_made'),
  seconds_left: nullable(integer),
  message: nullable(string),
  started_at: nullable(time),
  completed_at: nullable(time),
})

const stream = (payload: object) => ({
  type: 'string',
  contentMediaType: 'text/event-stream',
  description:
    'Server-sent events. The `data` of each event is a JSON object that conforms to `contentSchema`.',
  contentSchema: { anyOf: [payload, ResyncMessage] },
})

/** Schema of the response body, by stream. */
export const streamSchemas = {
  entity: stream(EntityMessage),
  task: stream(TaskMessage),
  scan: stream(ScanMessage),
}
