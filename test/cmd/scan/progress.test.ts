// Progress bars of a scan on a terminal.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createProgressBars } from '../../../cmd/scan/progress.ts'

type Stats = Parameters<ReturnType<typeof createProgressBars>['update']>[0]

function terminal(isTTY = true) {
  const written: string[] = []
  const stream = { isTTY, write: (text: string) => written.push(text) }
  return { written, bars: createProgressBars(stream as unknown as NodeJS.WriteStream) }
}
const stats = (values: Partial<Stats>) => ({
  ...{ indexed: 0, toIndex: 0, covers: 0, toCover: 0, hashed: 0, toHash: 0 },
  ...values,
})

t.test('one bar for each stage, drawn again in place', async t => {
  const { written, bars } = terminal()
  bars.update(stats({ indexed: 2, toIndex: 8, covers: 1, toCover: 2 }) as Stats)
  bars.update(stats({ indexed: 3, toIndex: 8 }) as Stats)
  t.equal(written.length, 1, 'not more often than is seen')
  const [index, covers, hashes] = written[0]!.split('\n')
  t.equal(index, `index   ${'█'.repeat(7)}${'░'.repeat(21)} 2/8 0/s`)
  t.equal(covers, `covers  ${'█'.repeat(14)}${'░'.repeat(14)} 1/2 0/s`)
  t.equal(hashes, `hashes  ${'░'.repeat(28)} 0/0 0/s`)
  await sleep(150)
  bars.update(stats({ indexed: 6, toIndex: 4, covers: 2, toCover: 2, toHash: 1 }) as Stats)
  t.equal(written[1], '\x1b[3A\x1b[J')
  t.match(
    written[2],
    /^index +█{28} 6\/6 \d+\/s\ncovers +█{28} 2\/2 \d+\/s\nhashes +░{28} 0\/1 0\/s\n$/,
  )
  await sleep(150)
  bars.update(stats({ indexed: 8, toIndex: 100_000 }) as Stats)
  t.match(written[4], /^index +░{28} 8\/100000 [1-9]\d*\/s (\d+ min|\d+\.\d h) left\n/)
  bars.close()
  t.equal(written[5], '\x1b[3A\x1b[J')
  bars.close()
  t.equal(written.length, 6)
})

t.test('nothing is written to a file', async t => {
  const { written, bars } = terminal(false)
  bars.update(stats({ indexed: 1, toIndex: 2 }) as Stats)
  bars.close()
  t.same(written, [])
})
