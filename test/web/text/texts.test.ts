// Text catalogs of the web application: every language is complete, and no text is unused or repeated.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { failureReasons, unreadableCodes } from '../../../lib/base/errors.ts'
import { errorNames } from '../../../lib/http/error-response.ts'
import { validationCodes } from '../../../lib/http/validate.ts'
import { nullOperators, operators, seriesFields } from '../../../lib/list/fields.ts'
import { languages, matchLanguage } from '../../../lib/web/app/text/languages.ts'
import { pseudoTexts } from '../../../lib/web/app/text/pseudo.ts'
import { fieldKey } from '../../../lib/web/app/text/translate.ts'
import { completed } from '../../../lib/web/texts.ts'
import { type Catalog, problemsOf, readCatalog } from '../../kit/web/texts.ts'

const app = join(import.meta.dirname, '..', '..', '..', 'lib', 'web', 'app')
const catalogs = Object.keys(languages).map(language => ({
  language,
  texts: readCatalog(language),
}))
const english = readCatalog('en')

t.test(
  'every language is complete, with the same placeholders and its own plural forms',
  async t => {
    for (const { language, texts } of catalogs)
      t.same(problemsOf(language, texts, english), [], 'npm run texts -- missing')
  },
)

t.test('the check finds what is wrong with a translation', async t => {
  const books = { one: '{count} book', other: '{count} books' }
  const source = { a: 'Hello {name}', b: books, c: 'Close' }
  const problems = (language: string, texts: Catalog) => problemsOf(language, texts, source)
  const french = { one: '{count} livre', many: '{count} de livres', other: '{count} livres' }
  t.same(problems('fr', { a: 'Bonjour {name}', b: french, c: 'Fermer' }), [])
  t.same(problems('fr', { b: books, a: 'Bonjour', c: '', d: 'x' }), [
    'fr c: missing',
    'fr d: not in English',
    'fr keys are not sorted',
    'fr b: lacks the form “many”',
    'fr a: lacks {name}',
  ])
  t.same(problems('fr', { a: 'Bonjour {nom} {name} ', b: '{count} livres', c: 'Fermer' }), [
    'fr a: {nom} has no value',
    'fr a: begins or ends with a space',
    'fr b: needs the plural forms one, many, other',
  ])
  t.same(problems('ja', { a: '{name}', b: '{count}冊', c: '閉じる' }), [], 'a single form')
  t.same(
    problems('de', { a: '{name}', b: { one: 'Ein Buch', other: 'Bücher' }, c: 'Schließen' }),
    ['de b: lacks {count}'],
    'only for one',
  )
})

t.test('a text that a language lacks is served in English', async t => {
  const source = { a: 'One', b: { one: 'a book', other: 'books' }, c: 'Three' }
  const texts = { a: 'Eins', b: { one: '', other: '' }, d: 'gone' }
  t.same(completed(texts, source), { a: 'Eins', b: source.b, c: 'Three' })
})

t.test('the language is the first that the browser wants and that there is', async t => {
  const expected: [string, string[]][] = [
    ['de', ['de-AT', 'en']],
    ['en', ['nl', 'en-US@posix']],
    ['es', ['es-419']],
    ['fr', ['FR-ca', 'de']],
    ['pt-BR', ['pt']],
    ['pt-BR', ['pt-PT', 'es']],
    ['zh-Hans', ['zh']],
    ['zh-Hans', ['zh-CN', 'en']],
    ['zh-Hans', ['zh-SG']],
    // Traditional Chinese, alone and with another language.
    ['zh-Hans', ['zh-TW']],
    ['ja', ['zh-Hant-HK', 'ja']],
  ]
  for (const [language, wanted] of expected) t.equal(matchLanguage(wanted), language, wanted.join())
  t.equal(matchLanguage(['nl']), undefined)
})

t.test(
  'texts of the pseudo-locale have no plain letters, are longer and keep placeholders',
  async t => {
    const pseudo = pseudoTexts({ a: 'Close', b: { one: '{count} book', other: '{count} books' } })
    t.equal(pseudo.a, '\u2066[Ćĺóśé ö]\u2069')
    t.match(pseudo.b, { one: /^.\[\{count\} ƀóóķ .*\].$/, other: /^.\[\{count\} ƀóóķś .*\].$/ })
    const all = JSON.stringify(
      Object.values(pseudoTexts(english)).map(text =>
        typeof text === 'string' ? text : text.other,
      ),
    )
    t.notMatch(all.replace(/\{\w+\}/g, ''), /[a-z]/i)
  },
)

t.test('every failure of the API has a text', async t => {
  const isOwnText = [403, 429, 503]
  const keys = [
    ...failureReasons.map(reason => `error.reason.${reason}`),
    ...unreadableCodes.map(code => `bookError.${code}`),
    ...validationCodes.map(code => `error.validation.${code}`),
    ...[500, ...Object.keys(errorNames).map(Number)]
      .filter(status => !isOwnText.includes(status))
      .map(status => `error.status.${status}`),
  ]
  t.same(
    keys.filter(key => !(key in english)),
    [],
  )
})

t.test('conditions of rules and saved filters have words', async t => {
  const keys = [
    ...Object.keys(seriesFields).map(fieldKey),
    ...[...Object.values(operators).flatMap(Object.keys), ...nullOperators].map(
      operator => `rule.operator.${operator}`,
    ),
  ]
  t.same(
    keys.filter(key => !(key in english)),
    [],
  )
})

t.test('a text that is the same in every language has one key', async t => {
  // Their keys are made of names of the API, several of which read alike.
  const isNamedByServer = (key: string) =>
    /^(?:error\.validation|personRole|rule\.operator)\./.test(key)
  const keys = Object.keys(english).filter(key => !isNamedByServer(key))
  const groups = Map.groupBy(keys, key => JSON.stringify(catalogs.map(({ texts }) => texts[key])))
  t.same(
    [...groups.values()].filter(group => group.length > 1),
    [],
  )
})

t.test('every text is used', async t => {
  const sources = globSync('**/*.{ts,tsx}', { cwd: app, exclude: ['**/*.d.ts'] }).map(path =>
    readFileSync(join(app, path), 'utf8'),
  )
  const literals = new Set(
    sources.flatMap(source => [...source.matchAll(/['"]([\w .,-]+)['"]/g)].map(([, text]) => text)),
  )
  // Keys that are made at run time, such as `role.${name}`.
  const patterns = sources.flatMap(source =>
    [...source.matchAll(/`([\w.]*\.[^`]*\$\{[^`]*|\$\{[^`]*\}\.[\w.]+)`/g)].map(([, template]) => {
      const parts = template!.split(/\$\{(?:[^{}]|\{[^{}]*\})*\}/)
      return new RegExp(
        `^${parts.map(part => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.+')}$`,
      )
    }),
  )
  const unused = Object.keys(english).filter(
    key => !literals.has(key) && !patterns.some(pattern => pattern.test(key)),
  )
  t.same(unused, [])
})
