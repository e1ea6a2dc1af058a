// Plain-text tables and records.
import t from 'tap'
import { textRecord, textTable } from '../../../cmd/terminal/table.ts'

t.test('columns are aligned, numbers to the right, by the width of a terminal', async t => {
  const rows = [
    ['Akira', 6, 'ja'],
    ['東京', 12, 'ja'],
    ['Cafe\u0301\nx', 100, ''],
  ]
  t.equal(
    textTable(['NAME', 'BOOKS', 'LANGUAGE'], rows),
    'NAME    BOOKS  LANGUAGE\n' +
      'Akira       6  ja\n' +
      '東京       12  ja\n' +
      'Cafe\u0301 x    100\n',
  )
  t.equal(textTable(['NAME', 'BOOKS'], []), 'NAME  BOOKS\n')
})

t.test('a record has a line for each value', async t => {
  const values: [string, string | number][] = [
    ['id', 7],
    ['user name', 'ana\x1b[31m'],
  ]
  const text = textRecord(values)
  t.match(text, /^id {9}7\nuser name {2}ana/)
  t.notMatch(text, /\x1b/)
})
