import t from 'tap'
import { evaluateRequest, isFresh, type RequestHeaders } from '../../lib/download/range.ts'

const modifiedMs = Date.UTC(2024, 4, 5, 6, 7, 8, 900)
const date = new Date(modifiedMs).toUTCString()
const later = new Date(modifiedMs + 5000).toUTCString()
const earlier = new Date(modifiedMs - 5000).toUTCString()
const file = { etag: '"abc"', modifiedMs, size: 1000 }
const partial = (start: number, end: number) => ({ status: 206, range: { start, end } })
const full = { status: 200 }

const cases: [string, RequestHeaders, object][] = [
  ['no conditions', {}, full],
  ['the first bytes', { range: 'bytes=0-99' }, partial(0, 99)],
  ['one byte', { range: 'bytes=999-999' }, partial(999, 999)],
  ['from an offset', { range: 'bytes=500-' }, partial(500, 999)],
  ['the last bytes', { range: 'bytes=-10' }, partial(990, 999)],
  ['a suffix longer than the file', { range: 'bytes=-5000' }, partial(0, 999)],
  ['an end past the end of the file', { range: 'bytes=10-99999' }, partial(10, 999)],
  ['blanks and case', { range: ' Bytes = 1 - 2 ' }, partial(1, 2)],
  ['a start past the end of the file', { range: 'bytes=1000-' }, { status: 416 }],
  ['a suffix of zero bytes', { range: 'bytes=-0' }, { status: 416 }],
  ['an end before the start is ignored', { range: 'bytes=9-5' }, full],
  ['several ranges', { range: 'bytes=0-1,5-6' }, full],
  ['another unit', { range: 'pages=1-2' }, full],
  ['garbage', { range: 'bytes=a-b' }, full],
  ['If-Range with the current ETag', { range: 'bytes=0-0', 'if-range': '"abc"' }, partial(0, 0)],
  ['If-Range with another ETag', { range: 'bytes=0-0', 'if-range': '"xyz"' }, full],
  ['If-Range with a weak ETag', { range: 'bytes=0-0', 'if-range': 'W/"abc"' }, full],
  ['If-Range with the date of the file', { range: 'bytes=0-0', 'if-range': date }, partial(0, 0)],
  ['If-Range with a later date', { range: 'bytes=0-0', 'if-range': later }, full],
  ['the same ETag', { 'if-none-match': '"abc"' }, { status: 304 }],
  ['one of several ETags', { 'if-none-match': '"x", W/"abc"' }, { status: 304 }],
  ['any ETag', { 'if-none-match': '*' }, { status: 304 }],
  [
    'If-None-Match takes precedence over the date',
    { 'if-none-match': '"x"', 'if-modified-since': date },
    full,
  ],
  ['not modified since', { 'if-modified-since': date }, { status: 304 }],
  ['modified since', { 'if-modified-since': earlier }, full],
  ['an invalid date', { 'if-modified-since': 'yesterday' }, full],
  ['304 before a range', { 'if-none-match': '"abc"', range: 'bytes=0-0' }, { status: 304 }],
  ['If-Match with the current ETag', { 'if-match': '"abc"' }, full],
  ['If-Match with another ETag', { 'if-match': '"x"' }, { status: 412 }],
  ['If-Match with a weak ETag', { 'if-match': 'W/"abc"' }, { status: 412 }],
  ['unmodified since', { 'if-unmodified-since': date }, full],
  ['modified after If-Unmodified-Since', { 'if-unmodified-since': earlier }, { status: 412 }],
]
const get = (headers: RequestHeaders) => ({ method: 'GET', headers })
for (const [name, headers, expected] of cases)
  t.same(evaluateRequest(get(headers), file), expected, name)

t.same(
  evaluateRequest(get({ range: 'bytes=0-' }), { ...file, size: 0 }),
  { status: 416 },
  'an empty file',
)
for (const range of ['bytes=0-9', 'bytes=5000-'])
  t.same(evaluateRequest({ method: 'HEAD', headers: { range } }, file), full, 'HEAD has no ranges')

const weak = { ...file, etag: 'W/"abc"' }
for (const etag of ['W/"abc"', '"abc"']) {
  t.same(
    evaluateRequest(get({ range: 'bytes=0-0', 'if-range': etag }), weak),
    full,
    `If-Range ${etag} with a weak ETag`,
  )
  t.same(
    evaluateRequest(get({ 'if-match': etag }), weak),
    { status: 412 },
    `If-Match ${etag} with a weak ETag`,
  )
  t.ok(isFresh({ 'if-none-match': etag }, weak), `If-None-Match ${etag} with a weak ETag`)
}
t.ok(isFresh({ 'if-none-match': '"abc"' }, { etag: '"abc"' }), 'without a date')
t.notOk(isFresh({ 'if-modified-since': later }, { etag: '"abc"' }))
