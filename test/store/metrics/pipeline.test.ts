// Metrics of the pipeline: which books count as read.
import { test } from 'tap'
import { countBooksRead } from '../../../lib/store/metrics/pipeline.ts'
import { render } from '../../../lib/store/metrics/registry.ts'

test('books that were identified by their fingerprint have no read time', async t => {
  // The counters of a process include other tests.
  const before = await readTimes()
  const book = { ms: 20, isUnchanged: false, format: 'pdf', error: null }
  countBooksRead([book, { ...book, isUnchanged: true, format: null }])
  const after = await readTimes()
  t.equal(after.get('pdf')!, (before.get('pdf') ?? 0) + 1)
  t.same([...after.keys()].sort(), [...new Set([...before.keys(), 'pdf'])].sort())
})

/** Books with a read time, by format. */
async function readTimes(): Promise<Map<string, number>> {
  const { text } = await render([], 'text')
  const counts = text.matchAll(/^parse_duration_seconds_count\{format="(\w+)"\} (\d+)$/gm)
  return new Map([...counts].map(([, format, count]) => [format!, Number(count)]))
}
