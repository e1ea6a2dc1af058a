// Languages of the application, and which of them a browser wants.

/** Languages with a complete text catalog, by BCP 47 tag, with their own names. */
export const languages = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  it: 'Italiano',
  'pt-BR': 'Português (Brasil)',
  ja: '日本語',
  'zh-Hans': '简体中文',
} as const
export type Language = keyof typeof languages

/** Languages whose texts a native reader has written or reviewed. */
export const reviewed: ReadonlySet<string> = new Set(['en', 'de'])

/**
 * The first of the wanted languages that exists, in any region. Another script counts only if nothing else fits:
 * Traditional Chinese becomes Simplified for a browser that wants no other language of these.
 */
export function matchLanguage(wanted: readonly string[]): Language | undefined {
  const known = Object.keys(languages) as Language[]
  const find = (partOf: (tag: string) => string) =>
    wanted
      .map(tag => known.find(language => partOf(language) === partOf(tag)))
      .find(language => language !== undefined)
  return find(languageAndScript) ?? find(tag => languageAndScript(tag).split('-')[0]!)
}

/** Such as `pt-Latn` for `pt-BR`, `zh-Hant` for `zh-TW`. */
export function languageAndScript(tag: string): string {
  try {
    const { language, script } = new Intl.Locale(tag).maximize()
    return `${language}-${script}`
  } catch {
    // Browsers have been seen with tags like en-US@posix.
    return tag
  }
}
