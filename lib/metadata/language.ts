// Language tags: canonical BCP 47 of what sources write.

const registered = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' })

/** `fra-be` → `fr-BE`, `ja_JP` → `ja-JP`; null for what is no registered language (`jp-JP`, `und`, `English`). */
export function canonicalLanguage(tag: string): string | null {
  const text = tag.trim().replaceAll('_', '-')
  if (text.length > 35) return null
  try {
    const locale = new Intl.Locale(text)
    return registered.of(locale.language) === undefined ? null : locale.toString()
  } catch {
    return null
  }
}
