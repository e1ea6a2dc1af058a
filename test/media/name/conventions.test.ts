// Accuracy of the file-name parser by convention: a table of names and names generated from a grammar.
import { join } from 'node:path'
import t from 'tap'
import { scoreConventions, scoreGenerated, total } from '../../../bench/filenames.ts'

const table = join(import.meta.dirname, 'conventions.tsv')

t.test('names of every convention are parsed', async t => {
  const { sources, misses } = scoreConventions(table)
  for (const [convention, { right, rows }] of sources) {
    t.ok(right >= 0.9 * rows, `${convention}: ${right}/${rows}`)
  }
  const { right, rows } = total(sources)
  t.ok(rows > 400)
  t.ok(right >= 0.98 * rows, `${right}/${rows}: ${misses.join('\n')}`)
})

t.test('generated names are parsed in every convention and language', async t => {
  const { sources, misses } = scoreGenerated({ seed: 11, names: 4_000 })
  t.ok(sources.size > 20)
  for (const [convention, { right, rows }] of sources) {
    t.ok(right >= 0.95 * rows, `${convention}: ${right}/${rows}`)
  }
  const { right, rows } = total(sources)
  t.ok(right >= 0.99 * rows, `${right}/${rows}: ${misses.slice(0, 20).join('\n')}`)
})
