// Language tag normalization to canonical BCP 47.

const registered = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' })

/** `fra-be` → `fr-BE`, `ja_JP` → `ja-JP`; null for unregistered languages (`jp-JP`, `und`, `English`). */
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
