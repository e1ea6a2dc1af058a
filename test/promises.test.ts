// Promises: the list of docs/promises.md and the marks in the documents agree, what a row names exists, and no
// figure, limit or minimum version stands in a document without a mark.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openapi } from './kit/http/openapi.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const written = readdirSync(join(root, 'docs')).filter(
  name => name.endsWith('.md') && !['promises.md', 'configuration.md'].includes(name),
)
const documents = ['README.md', 'SECURITY.md', ...written.map(name => `docs/${name}`)]
const nameOf = (document: string) => document.replace(/^docs\/|\.md$/g, '')

const mark = /<!-- promise: ([a-z0-9, -]+) -->/g
const idsIn = (text: string) => [...text.matchAll(mark)].flatMap(([, ids]) => ids!.split(', '))

const rows = read('docs/promises.md')
  .split('\n')
  .filter(line => line.startsWith('| ') && !line.startsWith('| id |'))
  .map(line => {
    const [id = '', , places = '', shown = ''] = line.slice(2, -2).split(' | ')
    return { id, places: places.split(', '), shown }
  })

// What a person would take for a figure: a number, in digits or words, with a unit or of something that is counted; a
// limit; a minimum version.
const number =
  String.raw`(?:\d[\d.,]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|` +
  '(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand|million|half a)'
const unit =
  'ms|s|seconds?|minutes?|hours?|days?|bytes|[kMG]B|[KMG]iB|%|times|levels|connections|books|files|entries|characters|streams|' +
  'series|sessions|pages|redirects|requests?|accounts|threads|rows|cores|weeks?|months?|years?|processes|libraries|items|' +
  'members|jobs|lists|tags|positions|attempts|volumes|failures|columns|hosts|languages|copies|lines|users|calls|folders|processors'
const figure = new RegExp(
  String.raw`\b${number} (?:(?!of )[a-z-]+ )?(?:${unit})\b(?!-)|\d ?%|\d times|` +
    String.raw`\b(?:at most|at least|up to|beyond|within|more than|less than) (?:a |about |some )?${number}\b|` +
    String.raw`(?:Node(?:\.js)?|PostgreSQL) \d|\d or (?:newer|later)`,
)

t.test('each id in a document has one row, and stands where the row states', async t => {
  const ids = rows.map(row => row.id)
  t.equal(new Set(ids).size, ids.length, 'ids are unique')
  const places = new Map(documents.map(document => [nameOf(document), idsIn(read(document))]))
  const stated = [...places].flatMap(([name, found]) => found.map(id => `${id} in ${name}`))
  const listed = rows.flatMap(({ id, places: at }) =>
    at.filter(place => places.has(place)).map(place => `${id} in ${place}`),
  )
  t.same([...new Set(stated)].sort(), listed.sort())
})

t.test('rows name keys, commands and operations that exist', async t => {
  const reference = read('docs/configuration.md')
  const exists = (place: string) => {
    const [, kind, what = ''] = /^`(key|help|api) (.+)`$/.exec(place) ?? []
    if (kind === 'key') return reference.includes(`\`${what}\``)
    if (kind === 'help') return what === 'stackroom' || isCommand(what)
    if (kind === 'api') return isOperation(what)
    return documents.some(document => nameOf(document) === place)
  }
  const unknown = rows.flatMap(({ id, places }) =>
    places.filter(place => !exists(place)).map(place => `${id}: ${place}`),
  )
  t.same(unknown, [])
})

t.test('rows name tests with these titles, and benchmarks', async t => {
  const faults = rows.flatMap(({ id, shown }) => faultsOf(shown).map(fault => `${id}: ${fault}`))
  t.same(faults, [])
})

t.test('the tests of known defects that SECURITY.md names exist', async t => {
  const [, defects = ''] = read('SECURITY.md').split(/^## Defects known .+$/m)
  const names = [...defects.matchAll(/`([a-z0-9-]+(?:\/[a-z0-9-]+)+)`/g)].map(([, name]) => name!)
  const lines = defects.match(/^\d+\. .+$/gm) ?? []
  t.ok(lines.length >= 25)
  t.same(
    lines.filter(line => !names.some(name => line.includes(`\`${name}\``))),
    [],
    'each has a test',
  )
  t.same(
    names.filter(name => !existsSync(join(root, `test/${name}.test.ts`))),
    [],
  )
})

t.test('figures, limits and minimum versions have an id', async t => {
  const bare = documents.flatMap(document =>
    blocksOf(read(document))
      .filter(({ text, marks }) => marks.length === 0 && figure.test(text))
      .map(({ text }) => `${document}: ${figure.exec(text)![0]} … ${text.slice(0, 100)}`),
  )
  t.same(bare, [])
})

/** A command, its options and subcommands. */
function isCommand(what: string): boolean {
  const [command, ...parts] = what.split(' ')
  const path = `cmd/${command}.ts`
  return existsSync(join(root, path)) && parts.every(part => read(path).includes(`'${part}`))
}

function isOperation(operation: string): boolean {
  const [method = '', path = ''] = operation.split(' ')
  return openapi().paths[`/api/v1${path}`]?.[method.toLowerCase()] !== undefined
}

/** Each name in backticks is a benchmark or a test; a title in quotes is one of the test before it. Without any, it is not shown here. */
function faultsOf(shown: string): string[] {
  if (!shown.includes('`'))
    return /^(?:not run here|tried on \d{4}-\d\d-\d\d)$/.test(shown) ? [] : [`shown by "${shown}"`]
  let source = ''
  return [...shown.matchAll(/`([^`]+)`|"([^"]+)"/g)].flatMap(([, name, title]) => {
    if (title) return source.includes(title) ? [] : [`no test "${title}"`]
    const bench = /^bench (.+)$/.exec(name!)?.[1]
    const paths = bench ? [`bench/${bench}.ts`, `bench/${bench}/main.ts`] : [`test/${name}.test.ts`]
    const path = paths.find(path => existsSync(join(root, path)))
    source = path ? read(path) : ''
    return path ? [] : [`no ${name}`]
  })
}

/** Paragraphs, list items and table rows without code; the rows of a table share the marks of the paragraph before it. */
function blocksOf(markdown: string): { text: string; marks: string[] }[] {
  const blocks: { text: string; marks: string[] }[] = []
  let before: string[] = []
  for (const paragraph of markdown.replace(/^ *```.*?^ *```$/gms, '').split(/\n\s*\n/)) {
    const parts = paragraph.split(/\n(?=\||[-*] |\d+\. )/)
    for (const part of parts) {
      const isRow = part.trimStart().startsWith('|')
      const marks = [...idsIn(part), ...(isRow ? before : [])]
      blocks.push({ text: part.replace(mark, '').replace(/\s+/g, ' '), marks })
    }
    before = idsIn(paragraph)
  }
  return blocks
}
