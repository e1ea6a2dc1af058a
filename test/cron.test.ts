// Which schedules and time zones are taken.
import t from 'tap'
import { cronFault, isTimeZone } from '../lib/cron.ts'

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
  for (const minute of ['', '1,', '5-1', '*/0', '1-', '-1', 'a', '*5', '1/2/3', '١'])
    t.ok(cronFault(`${minute} * * * *`), minute)
})

t.test('time zones have IANA names', async t => {
  t.ok(isTimeZone('Europe/Berlin'))
  t.ok(isTimeZone('UTC'))
  t.notOk(isTimeZone('Mars/Olympus'))
  t.notOk(isTimeZone(''))
})
