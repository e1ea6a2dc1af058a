// Search and match keys.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { matchKey, searchKey } from '../../../lib/media/name/text.ts'
import { corpusPath, skipWithoutCorpus } from '../../kit/files/corpus.ts'

t.test('shared rows of search keys', { skip: skipWithoutCorpus(8) }, async t => {
  const table = readFileSync(corpusPath('filename-tables/codex-normalize.tsv')!, 'utf8')
  for (const line of table.split('\n')) {
    const [, , fn, input, , , expected] = line.split('\t')
    if (fn === 'normalize_for_search') t.equal(searchKey(input!), expected ?? '')
  }
})

t.test('search keys have no case and no accents', async t => {
  t.equal(searchKey('Pokémon ÉTÉ'), 'pokemon ete')
  t.equal(searchKey(''), '')
  t.equal(searchKey('crème brûlée'), 'creme brulee')
  t.equal(searchKey('ワンピース'), 'ワンピース')
})

t.test('match keys contain letters, digits and single spaces', async t => {
  t.equal(matchKey('Special!@#$Characters'), 'specialcharacters')
  t.equal(matchKey('  The   Amazing  Spider-Man: Vol. 2 '), 'the amazing spiderman vol 2')
  t.equal(matchKey('ハイキュー!!'), 'ハイキュー')
  t.equal(matchKey('ที่รัก'), 'ที่รัก', 'Thai vowels are combining marks')
  t.equal(matchKey('+++'), '')
})
