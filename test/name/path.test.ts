// Paths: folders fill what the file name leaves open.
import t from 'tap'
import { parsePath } from '../../lib/name/path.ts'

t.test('a folder of the same series tells year and volume', async t => {
  t.match(parsePath('Comics/Venom (2021)/Venom #1'), { series: 'Venom', year: 2021, number: '1' })
  t.match(parsePath('Batman/Volume 1 (1940)/Batman (1940) Volume 2 Issue 11-25'), {
    volume: 2,
    year: 1940,
  })
  t.match(parsePath('Titans v2 (1984)/Issue 51-58 - Titans (1985-03-01)'), {
    series: 'Titans',
    volume: 2,
    year: 1985,
  })
})

t.test('a folder of something else tells nothing', async t => {
  t.equal(parsePath('Sale (2020)/Venom #1').year, null)
  t.equal(parsePath('Venom #1').series, 'Venom')
  t.equal(parsePath('').series, null)
})
