// The reading ledger: order of arrival against a plain model, statistics of a heavy reader over millions of
// sittings, and the cost of a write beside that of writing a position alone.
// npm run bench -- reading order [--interleavings 2000] [--seed 1]
// npm run bench -- reading statistics --data DIR [--sessions 10000000] [--rounds 40]
// npm run bench -- reading write --data DIR [--rounds 500]
// DIR is from `npm run bench -- seed`; sittings are added to it at the first run.
import { parseArgs } from 'node:util'
import { compareOrders } from './order.ts'
import { measureStatistics } from './statistics.ts'
import { measureWrites } from './write.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    data: { type: 'string' },
    interleavings: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    sessions: { type: 'string', default: '10000000' },
    rounds: { type: 'string' },
  },
})
const [part] = positionals
if (part === 'order') await compareOrders(Number(values.seed), Number(values.interleavings))
else if (part === 'statistics' && values.data)
  await measureStatistics({
    data: values.data,
    sessions: Number(values.sessions),
    rounds: Number(values.rounds ?? 40),
  })
else if (part === 'write' && values.data)
  await measureWrites({ data: values.data, rounds: Number(values.rounds ?? 500) })
else {
  process.stderr.write('usage: npm run bench -- reading order | statistics | write [--data DIR]\n')
  process.exitCode = 2
}
