// Streams of events: who follows, what they were sent.
import { counter, gauge } from './registry.ts'

export const streamClients = gauge('sse_clients', 'Clients that follow a stream.', ['stream'])
export const streamEvents = counter('sse_events_total', 'Events sent to clients of a stream.', [
  'stream',
])
export const streamResyncs = counter(
  'sse_dropped_total',
  'Times that a client was told to load everything anew, because events it had not got were gone.',
  ['stream'],
)
