// CSV of the export: values that a spreadsheet would evaluate.
import t from 'tap'
import { csvLine } from '../../../lib/reading/routes/history.ts'

t.test('no text is a formula', async t => {
  const texts = [
    '=1+1',
    ' =1',
    '\t=1',
    '\uFEFF=1',
    '+1',
    '-1',
    '@SUM(1)',
    '＝1+1',
    '＋1',
    '－1',
    '＠SUM(1)',
  ]
  for (const text of texts) t.equal(csvLine([text]).replaceAll('"', '').trimEnd(), `'${text}`)
  t.equal(csvLine([-1, 'a=1', null]), '-1,a=1,\r\n')
})
