// Dates in file names.
import t from 'tap'
import { extractDates, parseDate } from '../../../lib/media/name/dates.ts'

t.test('dates are parsed in common notations', async t => {
  t.same(parseDate('2016'), { year: 2016, month: null, day: null })
  t.same(parseDate('1984-04-28'), { year: 1984, month: 4, day: 28 })
  t.same(parseDate('28.04.1984'), { year: 1984, month: 4, day: 28 })
  t.same(parseDate('03-2022'), { year: 2022, month: 3, day: null })
  t.same(parseDate('Sep 1973'), { year: 1973, month: 9, day: null })
  t.same(parseDate('December, 2004'), { year: 2004, month: 12, day: null })
  t.same(parseDate('2007-2011'), { year: 2007, month: null, day: null })
  t.same(parseDate('1996-1997 + 2006'), { year: 1996, month: null, day: null })
  t.same(parseDate('2006-12-00'), { year: 2006, month: 12, day: null })
  t.same(parseDate('Dec-31'), { year: null, month: 12, day: 31 })
})

t.test('months are read in nine languages', async t => {
  for (const text of [
    ...['12 January 2004', '12 janvier 2004', '12. Januar 2004', '12 de enero de 2004'],
    ...['12 gennaio 2004', '12 de janeiro de 2004', '12 januari 2004', '12 января 2004'],
    '12 stycznia 2004',
  ])
    t.same(parseDate(text), { year: 2004, month: 1, day: 12 }, text)
})

t.test('other text is not a date', async t => {
  for (const text of ['Digital', '1-28', '42', '2 Covers', 'May', '3000', '', '12345']) {
    t.equal(parseDate(text), null, text)
  }
})

t.test('full dates are extracted from text, years are not', async t => {
  t.same(extractDates('Test #2 2001-02-24'), {
    text: 'Test #2 \t',
    date: { year: 2001, month: 2, day: 24 },
  })
  t.same(extractDates('Cyberpunk 2077 #4'), { text: 'Cyberpunk 2077 #4', date: null })
})
