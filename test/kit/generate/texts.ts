// Command for the texts of the web application (npm run texts): check them, list what is missing, add translations and
// languages. docs/translating.md describes it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { languages } from '../../../lib/web/app/text/languages.ts'
import {
  type Catalog,
  emptyText,
  isMissing,
  missingKeys,
  problemsOf,
  readCatalog,
  type Text,
  textFolder,
  writeCatalog,
} from '../web/texts.ts'

const known = Object.keys(languages)
const english = readCatalog('en')

const commands: Record<string, (argument: string | undefined) => void> = {
  check() {
    const problems = known.flatMap(language => problemsOf(language, readCatalog(language), english))
    print(problems.length > 0 ? problems.join('\n') : `${known.length} languages are complete.`)
    process.exitCode = problems.length > 0 ? 1 : 0
  },

  /** As `merge` reads it, with the English texts. */
  missing(only) {
    const found: Record<string, Catalog> = {}
    for (const language of only ? [only] : known)
      for (const key of missingKeys(readCatalog(language), english)) {
        found[key] ??= { en: english[key]! }
        found[key][language] = emptyText(language, english[key]!)
      }
    print(JSON.stringify(found, null, 2))
  },

  /** Texts by key and language; empty ones are left out. */
  merge(file) {
    const added: Record<string, Catalog> = JSON.parse(readFileSync(file ?? 0, 'utf8'))
    for (const language of known) {
      const texts = Object.entries(added).map(([key, byLanguage]): [string, Text | undefined] => [
        key,
        byLanguage[language],
      ])
      const filled = Object.fromEntries(texts.filter(([, text]) => !isMissing(text))) as Catalog
      writeCatalog(language, { ...readCatalog(language), ...filled })
    }
    commands.check!(undefined)
  },

  /** Sorts the files, and removes what English does not have. */
  tidy() {
    for (const language of known) {
      const texts = Object.entries(readCatalog(language)).filter(([key]) => key in english)
      writeCatalog(language, Object.fromEntries(texts))
    }
  },

  add(language) {
    if (!language || String(Intl.getCanonicalLocales(language)) !== language)
      throw new Error('Which language? A BCP 47 tag such as nl or zh-Hant is needed')
    if (language in languages || existsSync(join(textFolder, `${language}.json`)))
      throw new Error(`${language} is there already`)
    const texts = Object.entries(english).map(([key, text]) => [key, emptyText(language, text)])
    writeCatalog(language, Object.fromEntries(texts))
    register(language)
    print(`${language}.json has ${texts.length} texts to translate. docs/translating.md continues.`)
  },
}

/** Below the last one in languages.ts. */
function register(language: string) {
  const file = join(textFolder, 'languages.ts')
  const own = new Intl.DisplayNames(language, { type: 'language' }).of(language)!
  const name = own[0]!.toLocaleUpperCase(language) + own.slice(1)
  const key = /^\w+$/.test(language) ? language : `'${language}'`
  const source = readFileSync(file, 'utf8')
  writeFileSync(file, source.replace('\n} as const', `\n  ${key}: '${name}',\n} as const`))
}

const print = (text: string) => process.stdout.write(`${text}\n`)

const [name = 'check', argument] = process.argv.slice(2)
const command = commands[name]
if (command === undefined) throw new Error(`Unknown: ${name}. ${Object.keys(commands).join(', ')}`)
command(argument)
