// Content negotiation of the metrics formats.
import { test } from 'tap'
import { negotiateTextFormat } from '../../../lib/store/metrics/registry.ts'

test('text formats are only sent to clients that name them', t => {
  const cases: [string | undefined, string | null][] = [
    [undefined, null],
    ['*/*', null],
    ['application/json', null],
    ['text/html, application/xhtml+xml, */*;q=0.8', null],
    ['text/plain', 'text'],
    ['TEXT/Plain; version=0.0.4', 'text'],
    ['text/plain;q=0', null],
    ['application/json, text/plain', null],
    ['application/json, text/plain, */*', null],
    ['application/json;q=0.4, text/plain;q=0.5', 'text'],
    ['application/openmetrics-text; version=1.0.0', 'openmetrics'],
    ['application/openmetrics-text;q=0.5,text/plain;q=0.3,*/*;q=0.2', 'openmetrics'],
    ['application/openmetrics-text;q=0.2,text/plain;q=0.3', 'text'],
    ['text/plain;q=nonsense', null],
    [',;,q=', null],
  ]
  for (const [accept, format] of cases) t.equal(negotiateTextFormat(accept), format, String(accept))
  t.end()
})
