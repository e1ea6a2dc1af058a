// Which schedules and time zones are taken.
import t from 'tap'
import { cronFault, isTimeZone, readCron } from '../lib/cron.ts'

t.test('five fields with lists, ranges, steps and names are a schedule', async t => {
  const right = [
    '*/30 * * * *',
    '0 */6 * * *',
    '15 3 * * *',
    '0 0 * * 0',
    '0 0 1,15 * *',
    '5-10/2 0-23 1 jan-mar MON-fri',
    ' 0  4 * * 7 ',
  ]
  for (const schedule of right) t.equal(cronFault(schedule), null, schedule)
})

t.test('anything else is none, and the field that is wrong is named', async t => {
  t.match(cronFault('* * * *'), /five fields/)
  t.match(cronFault('0 0 * * * *'), /five fields/)
  t.match(cronFault(''), /five fields/)
  t.match(cronFault('60 * * * *'), /minute/)
  t.match(cronFault('* 24 * * *'), /hour/)
  t.match(cronFault('* * 0 * *'), /day of the month/)
  t.match(cronFault('* * * 13 *'), /month/)
  t.match(cronFault('* * * * 8'), /weekday/)
  t.match(cronFault('* * 30 2 *'), /never comes/)
  t.match(cronFault('* */25 * * *'), /hour/)
  for (const minute of ['', '1,', '5-1', '*/61', '*/0', '1-', '-1', 'a', '*5', '1/2/3', '١'])
    t.ok(cronFault(`${minute} * * * *`), minute)
})

t.test('time zones have IANA names', async t => {
  t.ok(isTimeZone('Europe/Berlin'))
  t.ok(isTimeZone('UTC'))
  t.notOk(isTimeZone('Mars/Olympus'))
  t.notOk(isTimeZone(''))
})

t.test('whatever is taken as a schedule comes at some time', async t => {
  const any = (from: number, to: number) => from + Math.floor(Math.random() * (to - from + 1))
  const bounds = [
    [0, 59],
    [0, 23],
    [1, 31],
    [1, 12],
    [0, 7],
  ] as const
  const part = ([from, to]: readonly [number, number]) => {
    const value = any(from, to)
    const shapes = ['*', value, `${value}-${any(value, to)}`, `*/${any(1, 40)}`, `${value}/9`]
    return shapes[any(0, shapes.length - 1)]
  }
  let taken = 0
  for (let i = 0; i < 2000; i++) {
    const schedule = bounds.map(bound => `${part(bound)},${part(bound)}`).join(' ')
    if (cronFault(schedule)) continue
    taken += 1
    if (!readCron(schedule, 'Europe/Berlin').nextRun()) t.fail(schedule)
  }
  t.ok(taken > 100)
})

t.test('hours that a clock skips or shows twice count once', async t => {
  const nightly = readCron('30 2 * * *', 'Europe/Berlin')
  t.same(nightly.nextRuns(2, new Date('2026-03-28T12:00:00Z')), [
    new Date('2026-03-29T01:00:00Z'),
    new Date('2026-03-30T00:30:00Z'),
  ])
  t.same(nightly.nextRuns(2, new Date('2026-10-24T12:00:00Z')), [
    new Date('2026-10-25T00:30:00Z'),
    new Date('2026-10-26T01:30:00Z'),
  ])
})
