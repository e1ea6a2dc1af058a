// Text catalogs of the web application: reading and writing them, and what is wrong with a translation.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type Text = string | Record<string, string>
export type Catalog = Record<string, Text>

const root = join(import.meta.dirname, '..', '..', '..')
export const textFolder = join(root, 'lib', 'web', 'app', 'text')

export const readCatalog = (language: string): Catalog =>
  JSON.parse(readFileSync(join(textFolder, `${language}.json`), 'utf8'))

/** Sorted by key, as Weblate and every command here write it. */
export function writeCatalog(language: string, texts: Catalog): void {
  const sorted = Object.fromEntries(Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1)))
  writeFileSync(join(textFolder, `${language}.json`), `${JSON.stringify(sorted, null, 2)}\n`)
}

export const pluralCategories = (language: string): string[] =>
  new Intl.PluralRules(language).resolvedOptions().pluralCategories

/** An empty text of the kind that the language needs: with the forms of its plural, if it has several. */
export function emptyText(language: string, english: Text): Text {
  const categories = pluralCategories(language)
  if (typeof english === 'string' || categories.length === 1) return ''
  return Object.fromEntries(categories.map(category => [category, '']))
}

const formsOf = (text: Text) => (typeof text === 'string' ? { other: text } : text)

export const isMissing = (text: Text | undefined): boolean =>
  text === undefined || Object.values(formsOf(text)).every(form => form.trim() === '')

export const missingKeys = (texts: Catalog, english: Catalog): string[] =>
  Object.keys(english).filter(key => isMissing(texts[key]))

/** Lines such as `fr account.menu: lacks {name}`. */
export function problemsOf(language: string, texts: Catalog, english: Catalog): string[] {
  const keys = Object.keys(texts)
  const found = [
    ...missingKeys(texts, english).map(key => `${key}: missing`),
    ...keys.filter(key => !(key in english)).map(key => `${key}: not in English`),
    ...(String(keys) === String(keys.toSorted()) ? [] : ['keys are not sorted']),
    ...keys
      .filter(key => key in english && !isMissing(texts[key]))
      .flatMap(key =>
        problemsOfText(language, texts[key]!, english[key]!).map(p => `${key}: ${p}`),
      ),
  ]
  return found.map(problem => `${language} ${problem}`)
}

function problemsOfText(language: string, text: Text, english: Text): string[] {
  const categories = pluralCategories(language)
  const isPlural = typeof english !== 'string' && categories.length > 1
  if (isPlural !== (typeof text !== 'string'))
    return [isPlural ? `needs the plural forms ${categories.join(', ')}` : 'needs one text']
  const forms = formsOf(text)
  const wanted = isPlural ? categories : ['other']
  return [
    ...wanted.filter(form => !forms[form]?.trim()).map(form => `lacks the form “${form}”`),
    ...Object.keys(forms)
      .filter(form => !wanted.includes(form))
      .map(form => `has no use for the form “${form}”`),
    ...Object.entries(forms).flatMap(([form, value]) => [
      ...placeholderProblems(form, value, formsOf(english)),
      ...(value === value.trim() ? [] : ['begins or ends with a space']),
    ]),
  ]
}

const placeholders = (text: string) => [...new Set(text.match(/\{\w+\}/g))]

/** The number can be left out where the form implies it: “Read once”. */
function placeholderProblems(form: string, text: string, english: Record<string, string>) {
  const [has, wanted] = [placeholders(text), placeholders(english.other!)]
  const isImplied = (name: string) => name === '{count}' && /^(?:zero|one|two)$/.test(form)
  return [
    ...wanted.filter(name => !has.includes(name) && !isImplied(name)).map(name => `lacks ${name}`),
    ...has.filter(name => !wanted.includes(name)).map(name => `${name} has no value`),
  ]
}
