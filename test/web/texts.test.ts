// Text catalogs of the web application: every language is complete, and no text is unused or repeated.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { failureReasons, unreadableCodes } from '../../lib/base/errors.ts'
import { errorNames } from '../../lib/http/error-response.ts'
import { validationCodes } from '../../lib/http/validate.ts'
import { nullOperators, operators, seriesFields } from '../../lib/list/fields.ts'
import { languages } from '../../lib/web/app/text/languages.ts'
import { fieldKey } from '../../lib/web/app/text/translate.ts'

type Text = string | Record<string, string>

const app = join(import.meta.dirname, '..', '..', 'lib', 'web', 'app')
const catalogs = Object.keys(languages).map(language => ({
  language,
  texts: JSON.parse(readFileSync(join(app, 'text', `${language}.json`), 'utf8')) as Record<
    string,
    Text
  >,
}))
const english = catalogs.find(({ language }) => language === 'en')!.texts
const forms = (text: Text) => (typeof text === 'string' ? [text] : Object.values(text))
const placeholders = (text: Text) =>
  [...new Set(forms(text).flatMap(form => form.match(/\{\w+\}/g) ?? []))].sort()

t.test('every language has every text, with the same placeholders', async t => {
  for (const { language, texts } of catalogs) {
    t.same(Object.keys(texts), Object.keys(english), `${language}: keys`)
    const differing = Object.entries(english).filter(
      ([key, text]) => String(placeholders(texts[key] ?? '')) !== String(placeholders(text)),
    )
    t.same(
      differing.map(([key]) => key),
      [],
      `${language}: placeholders`,
    )
  }
})

t.test('texts have the plural forms of their language, and none is empty', async t => {
  for (const { language, texts } of catalogs) {
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions()
    const wrong = Object.entries(texts).filter(([, text]) => {
      if (forms(text).some(form => form.trim() === '')) return true
      return typeof text !== 'string' && pluralCategories.some(category => !(category in text))
    })
    t.same(
      wrong.map(([key]) => key),
      [],
      language,
    )
  }
})

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
