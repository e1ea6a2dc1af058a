// Normalizes language tags to canonical BCP 47; accepts common wrong codes and language names.
import { byWord } from '../../base/words.ts'

// All books of a library use the same few tags, and Intl needs 25 µs for one.
const maxCached = 500
const maxTagLength = 50
const cache = new Map<string, string | null>()
const registered = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' })

/**
 * `fra-be` → `fr-BE`, `jp` → `ja`, `us` → `en`, `Deutsch` → `de`; null if it is not a language (`und`, `xx`).
 */
export function canonicalLanguage(tag: string): string | null {
  if (tag.length > maxTagLength) return null
  const cached = cache.get(tag)
  if (cached !== undefined) return cached
  const result = canonicalize(tag)
  if (cache.size < maxCached) cache.set(tag, result)
  return result
}

function canonicalize(tag: string): string | null {
  const text = tag.trim().replaceAll('_', '-').replace(/-+$/, '')
  const [first = '', ...rest] = text.toLowerCase().split('-')
  const code = wrongCodes.has(first) ? [wrongCodes.get(first), ...rest].join('-') : text
  return registeredTag(code) ?? languageOfCountry(first, rest) ?? languageOfName(tag.trim())
}

// `kr` is registered for Kanuri, but used for Korean; the others are Windows and name abbreviations.
const wrongCodes = byWord({
  ...{ ko: 'kr', ja: 'jap', es: 'esp', 'zh-Hans': 'chs, zhs', 'zh-Hant': 'cht, zht' },
  ...{ 'pt-BR': 'ptb, ptbr', 'en-US': 'enu' },
})

function registeredTag(tag: string): string | null {
  try {
    const locale = new Intl.Locale(tag)
    return registered.of(locale.language) === undefined ? null : locale.toString()
  } catch {
    return null
  }
}

const regions = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' })

/** The main language of a country whose code was used instead: `jp`, `cz`, `jp-JP`. */
function languageOfCountry(code: string, rest: readonly string[]): string | null {
  if (!/^[a-z]{2}$/.test(code) || code === 'zz') return null
  if (regions.of(code.toUpperCase()) === undefined) return null
  const { language, region } = new Intl.Locale(`und-${code}`).maximize().minimize()
  return registeredTag([language, ...(rest.length > 0 ? rest : region ? [region] : [])].join('-'))
}

// Languages in which names are recognized, besides each language itself.
const namingLanguages = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'ru', 'ja', 'zh', 'ko']
let names: Map<string, string> | null = null

/** `English`, `日本語`, `Portuguese (Brazil)` → the language. */
function languageOfName(text: string): string | null {
  const name = text.replace(/\s*[([（].*$/s, '').toLowerCase()
  if (!/[\p{L}]{2}/u.test(name)) return null
  names ??= collectNames()
  return names.get(name) ?? null
}

function collectNames(): Map<string, string> {
  const found = new Map<string, string>()
  const letters = 'abcdefghijklmnopqrstuvwxyz'
  const codes = [...letters].flatMap(a => [...letters].map(b => a + b))
  const known = codes.filter(code => registeredTag(code) === code)
  const add = (language: string, codes: readonly string[]) => {
    const display = new Intl.DisplayNames([language], { type: 'language', fallback: 'none' })
    for (const code of codes) {
      const name = display.of(code)?.toLowerCase()
      if (name !== undefined && !found.has(name)) found.set(name, code)
    }
  }
  for (const code of known) add(code, [code])
  for (const language of namingLanguages) add(language, known)
  return found
}
