// Metrics of event streams.
import { counter, gauge } from '../metrics/registry.ts'

export const streamClients = gauge('sse_clients', 'Clients connected to a stream.', ['stream'])
export const streamEvents = counter('sse_events_total', 'Events sent to clients of a stream.', [
  'stream',
])
export const streamResyncs = counter(
  'sse_dropped_total',
  'Times a client was instructed to reload everything because events it missed no longer exist.',
  ['stream'],
)
