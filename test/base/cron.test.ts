// Cron expressions and time zones: valid and invalid ones, daylight saving time.
import t from 'tap'
import { cronError, isTimeZone, parseCron } from '../../lib/base/cron.ts'
import { createRandom } from '../kit/random.ts'

t.test('five fields with lists, ranges, steps and names are valid', async t => {
  const valid = [
    '*/30 * * * *',
    '0 */6 * * *',
    '15 3 * * *',
    '0 0 * * 0',
    '0 0 1,15 * *',
    '5-10/2 0-23 1 jan-mar MON-fri',
    ' 0  4 * * 7 ',
  ]
  for (const schedule of valid) t.equal(cronError(schedule), null, schedule)
})

t.test('other expressions are invalid, and the invalid field is named', async t => {
  t.match(cronError('* * * *'), /five fields/)
  t.match(cronError('0 0 * * * *'), /five fields/)
  t.match(cronError(''), /five fields/)
  t.equal(cronError('60 * * * *'), 'Invalid minute (0-59)')
  t.equal(cronError('* 24 * * *'), 'Invalid hour (0-23)')
  t.equal(cronError('* * 0 * *'), 'Invalid day of the month (1-31)')
  t.equal(cronError('* * * 13 *'), 'Invalid month (1-12)')
  t.equal(cronError('* * * * 8'), 'Invalid weekday (0-7)')
  t.match(cronError('* * 30 2 *'), /never fires/)
  t.equal(cronError('* */25 * * *'), 'Invalid hour (0-23)')
  t.match(cronError('@daily'), /five fields/)
  for (const minute of ['', '1,', '5-1', '*/61', '*/0', '1-', '-1', 'a', '*5', '1/2/3', '١'])
    t.ok(cronError(`${minute} * * * *`), minute)
})

t.test('time zones have IANA names', async t => {
  t.ok(isTimeZone('Europe/Berlin'))
  t.ok(isTimeZone('UTC'))
  t.notOk(isTimeZone('Mars/Olympus'))
  t.notOk(isTimeZone(''))
})

t.test('every valid schedule has a next run', async t => {
  const { below } = createRandom(1)
  const random = (from: number, to: number) => from + below(to - from + 1)
  const bounds = [
    [0, 59],
    [0, 23],
    [1, 31],
    [1, 12],
    [0, 7],
  ] as const
  const part = ([from, to]: readonly [number, number]) => {
    const value = random(from, to)
    const forms = ['*', value, `${value}-${random(value, to)}`, `*/${random(1, 40)}`, `${value}/9`]
    return forms[random(0, forms.length - 1)]
  }
  let valid = 0
  for (let i = 0; i < 2000; i++) {
    const schedule = bounds.map(bound => `${part(bound)},${part(bound)}`).join(' ')
    if (cronError(schedule)) continue
    valid += 1
    if (!parseCron(schedule, 'Europe/Berlin').nextRun()) t.fail(schedule)
  }
  t.ok(valid > 100)
})

t.test('a time that the clock skips or repeats counts once', async t => {
  const nightly = parseCron('30 2 * * *', 'Europe/Berlin')
  t.same(nightly.nextRuns(2, new Date('2026-03-28T12:00:00Z')), [
    new Date('2026-03-29T01:00:00Z'),
    new Date('2026-03-30T00:30:00Z'),
  ])
  t.same(nightly.nextRuns(2, new Date('2026-10-24T12:00:00Z')), [
    new Date('2026-10-25T00:30:00Z'),
    new Date('2026-10-26T01:30:00Z'),
  ])
})
