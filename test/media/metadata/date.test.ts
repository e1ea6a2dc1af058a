import t from 'tap'
import { partialDate } from '../../../lib/media/metadata/text.ts'

t.test('the valid parts of a date are read', t => {
  const cases: [string, object | null][] = [
    ['1999-07-31T16:00:00+00:00', { year: 1999, month: 7, day: 31 }],
    [' 2011-1 ', { year: 2011, month: 1 }],
    ['2011', { year: 2011 }],
    ['19990731', { year: 1999, month: 7, day: 31 }],
    ['2003/08/27', { year: 2003, month: 8, day: 27 }],
    ['2011-13-40', { year: 2011 }],
    ['2011-02-40', { year: 2011, month: 2 }],
    ['circa 1850?', { year: 1850 }],
    ['31.07.1999', { year: 1999 }],
    ['２０１１', { year: 2011 }],
    ['0101-01-01T00:00:00+00:00', null],
    ['0000', null],
    ['soon', null],
    ['123456789', null],
  ]
  for (const [text, date] of cases) t.same(partialDate(text), date, text)
  t.end()
})
