import t from 'tap'
import { decide, isFresh, type RequestHeaders } from '../../lib/download/range.ts'

const modifiedMs = Date.UTC(2024, 4, 5, 6, 7, 8, 900)
const date = new Date(modifiedMs).toUTCString()
const later = new Date(modifiedMs + 5000).toUTCString()
const earlier = new Date(modifiedMs - 5000).toUTCString()
const file = { tag: '"abc"', modifiedMs, size: 1000 }
const part = (start: number, end: number) => ({ status: 206, part: { start, end } })
const whole = { status: 200 }

const cases: [string, RequestHeaders, object][] = [
  ['nothing asked', {}, whole],
  ['the first bytes', { range: 'bytes=0-99' }, part(0, 99)],
  ['one byte', { range: 'bytes=999-999' }, part(999, 999)],
  ['from an offset', { range: 'bytes=500-' }, part(500, 999)],
  ['the last bytes', { range: 'bytes=-10' }, part(990, 999)],
  ['more than there are at the end', { range: 'bytes=-5000' }, part(0, 999)],
  ['an end beyond the end', { range: 'bytes=10-99999' }, part(10, 999)],
  ['blanks and case', { range: ' Bytes = 1 - 2 ' }, part(1, 2)],
  ['a start beyond the end', { range: 'bytes=1000-' }, { status: 416 }],
  ['the last no bytes', { range: 'bytes=-0' }, { status: 416 }],
  ['an end before the start is no range', { range: 'bytes=9-5' }, whole],
  ['several ranges', { range: 'bytes=0-1,5-6' }, whole],
  ['another unit', { range: 'pages=1-2' }, whole],
  ['garbage', { range: 'bytes=a-b' }, whole],
  ['a range of the same file', { range: 'bytes=0-0', 'if-range': '"abc"' }, part(0, 0)],
  ['a range of another file', { range: 'bytes=0-0', 'if-range': '"xyz"' }, whole],
  ['a weak tag does not do', { range: 'bytes=0-0', 'if-range': 'W/"abc"' }, whole],
  ['a range of that date', { range: 'bytes=0-0', 'if-range': date }, part(0, 0)],
  ['a range of a later date', { range: 'bytes=0-0', 'if-range': later }, whole],
  ['the same tag', { 'if-none-match': '"abc"' }, { status: 304 }],
  ['one of several tags', { 'if-none-match': '"x", W/"abc"' }, { status: 304 }],
  ['any tag', { 'if-none-match': '*' }, { status: 304 }],
  ['another tag wins over the date', { 'if-none-match': '"x"', 'if-modified-since': date }, whole],
  ['not modified since', { 'if-modified-since': date }, { status: 304 }],
  ['modified since', { 'if-modified-since': earlier }, whole],
  ['no date', { 'if-modified-since': 'yesterday' }, whole],
  ['304 before a range', { 'if-none-match': '"abc"', range: 'bytes=0-0' }, { status: 304 }],
  ['the wished tag', { 'if-match': '"abc"' }, whole],
  ['another wished tag', { 'if-match': '"x"' }, { status: 412 }],
  ['a weak wished tag', { 'if-match': 'W/"abc"' }, { status: 412 }],
  ['unmodified since', { 'if-unmodified-since': date }, whole],
  ['modified too late', { 'if-unmodified-since': earlier }, { status: 412 }],
]
const get = (headers: RequestHeaders) => ({ method: 'GET', headers })
for (const [name, headers, expected] of cases) t.same(decide(get(headers), file), expected, name)

t.same(decide(get({ range: 'bytes=0-' }), { ...file, size: 0 }), { status: 416 }, 'an empty file')
for (const range of ['bytes=0-9', 'bytes=5000-'])
  t.same(decide({ method: 'HEAD', headers: { range } }, file), whole, 'HEAD has no ranges')

const weak = { ...file, tag: 'W/"abc"' }
for (const tag of ['W/"abc"', '"abc"']) {
  t.same(decide(get({ range: 'bytes=0-0', 'if-range': tag }), weak), whole, `${tag} of a weak one`)
  t.same(decide(get({ 'if-match': tag }), weak), { status: 412 }, `${tag} is not surely the same`)
  t.ok(isFresh({ 'if-none-match': tag }, weak), `${tag} does for a copy`)
}
t.ok(isFresh({ 'if-none-match': '"abc"' }, { tag: '"abc"' }), 'without a date')
t.notOk(isFresh({ 'if-modified-since': later }, { tag: '"abc"' }))
