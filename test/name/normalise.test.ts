// Search and match keys.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { matchKey, searchKey } from '../../lib/name/normalise.ts'

const corpus = new URL('../../../shared/corpus/', import.meta.url)

t.test('search keys of the reference table', async t => {
  const lines = readFileSync(new URL('filename-tables/codex-normalize.tsv', corpus), 'utf8').split(
    '\n',
  )
  for (const line of lines) {
    const [, , fn, input, , , expected] = line.split('\t')
    if (fn === 'normalize_for_search') t.equal(searchKey(input!), expected ?? '')
  }
  t.equal(searchKey('crème brûlée'), 'creme brulee')
  t.equal(searchKey('ワンピース'), 'ワンピース')
})

t.test('match keys hold letters, digits and single spaces', async t => {
  t.equal(matchKey('Special!@#$Characters'), 'specialcharacters')
  t.equal(matchKey('  The   Amazing  Spider-Man: Vol. 2 '), 'the amazing spiderman vol 2')
  t.equal(matchKey('ハイキュー!!'), 'ハイキュー')
  t.equal(matchKey('ที่รัก'), 'ที่รัก', 'Thai vowels are marks and stay')
  t.equal(matchKey('+++'), '')
})
