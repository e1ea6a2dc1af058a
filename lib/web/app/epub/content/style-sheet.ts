// Style sheets of EPUBs: parsed inertly, then serialized without URLs outside the book, and with font sizes
// relative to the reader's.

/** Resolves a URL of a style sheet to one that may be loaded; null for none. */
export type ResolveUrl = (url: string) => string | null

const maxStyleLength = 2_000_000

// Books may be hostile: these expressions have only one way to match, in linear time.
/** Allowed before `@import`: comments, HTML comment marks, character set and layers. */
const beforeImport =
  /\s+|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$)|<!--|-->|@charset\s+"[^"]*"\s*;|@layer\b[^{};]*;/iy
/** `@import` at the start of a style sheet; parsed sheets drop it. */
const importRule = /@import\s+(?:url\(\s*)?["']?([^"')\s;]+)["']?\s*\)?[^;]*;/iy
const maxImports = 20

/** The URLs that a style sheet imports, and the rest of its text. */
export function splitImports(text: string): { urls: string[]; rest: string } {
  const sheet = text.slice(0, maxStyleLength)
  const urls: string[] = []
  let end = 0
  const matchAt = (pattern: RegExp, index: number) => {
    pattern.lastIndex = index
    return pattern.exec(sheet)
  }
  for (let at = 0; at < sheet.length && urls.length < maxImports; ) {
    const rule = matchAt(importRule, at)
    const skipped = rule ?? matchAt(beforeImport, at)
    if (!skipped) break
    at += skipped[0].length
    if (!rule) continue
    urls.push(rule[1]!)
    end = at
  }
  return { urls, rest: sheet.slice(end) }
}

/** EPUB 3 properties that Firefox knows only by their CSS names. */
const prefixed =
  /(^|[{;/\s])-(?:epub|webkit)-(writing-mode|text-orientation|text-emphasis(?:-style|-color|-position)?|hyphens|line-break|word-break|text-align-last|ruby-position|text-underline-position)(?=\s*:)/gi
const prefixedCombine = /-(?:epub|webkit)-text-combine\s*:\s*horizontal\b/gi

const withoutPrefixes = (text: string) =>
  text.replace(prefixed, '$1$2').replace(prefixedCombine, 'text-combine-upright: all')

/** The rules of a style sheet as text. */
export function cleanStyleSheet(text: string, resolve: ResolveUrl): string {
  const sheet = new CSSStyleSheet()
  // Remaining imports would only cause reports.
  const known = withoutPrefixes(text.slice(0, maxStyleLength))
  sheet.replaceSync(known.replace(/@import\b[^;]*(?:;|$)/gi, ''))
  const rules: string[] = []
  for (const rule of sheet.cssRules) {
    if (!isAllowed(rule)) continue
    cleanRule(rule, resolve)
    // A namespace is a name and is never loaded.
    const isNamespace = rule.cssText.startsWith('@namespace')
    rules.push(isNamespace ? rule.cssText : replaceUrls(rule.cssText, resolve))
  }
  return rules.join('\n')
}

/** The declarations of a `style` attribute. */
export function cleanStyle(style: CSSStyleDeclaration, resolve: ResolveUrl): string {
  cleanDeclarations(style)
  return replaceUrls(style.cssText, resolve)
}

const isAllowed = (rule: CSSRule) =>
  !/^@(?:import|property|page|view-transition)\b/i.test(rule.cssText.slice(0, 20))

function cleanRule(rule: CSSRule, resolve: ResolveUrl) {
  const { style, cssRules } = rule as Partial<CSSStyleRule>
  if (style) cleanDeclarations(style)
  for (const nested of cssRules ?? []) cleanRule(nested, resolve)
  if (!(rule instanceof CSSFontFaceRule) || !style) return
  // The browser would report an empty URL as a bad font.
  for (const [, url] of style.getPropertyValue('src').matchAll(stringOrUrl))
    if (url !== undefined && resolve(unescaped(url)) === null) style.removeProperty('src')
}

/** Values retained as written: variables, and values that contain one. */
const mayLoad = /\\|url|image|src/i

function cleanDeclarations(style: CSSStyleDeclaration) {
  for (const name of [...style]) {
    const value = style.getPropertyValue(name)
    const isRaw = name.startsWith('--') || /\b(?:var|env|attr|if)\(/i.test(value)
    if (isRaw && mayLoad.test(value)) style.removeProperty(name)
  }
  // A shorthand with a variable has no longhand values.
  if (/\b(?:var|env|attr|if)\(/i.test(style.cssText) && mayLoad.test(style.cssText))
    for (const name of ['background', 'border-image', 'mask', 'list-style', 'content', 'cursor'])
      if (
        mayLoad.test(style.getPropertyValue(name)) &&
        /\b(?:var|env|attr|if)\(/i.test(style.getPropertyValue(name))
      )
        style.removeProperty(name)
  scaleFont(style, 'font-size')
  scaleFont(style, 'line-height')
}

const pixelsPer: Record<string, number> = {
  px: 1,
  pt: 4 / 3,
  pc: 16,
  in: 96,
  cm: 96 / 2.54,
  mm: 96 / 25.4,
}
const keywords: Record<string, number> = {
  ...{ 'xx-small': 9, 'x-small': 10, small: 13, medium: 16 },
  ...{ large: 18, 'x-large': 24, 'xx-large': 32, 'xxx-large': 48 },
}

/** Absolute sizes become relative to the root, whose size is a reader setting. */
function scaleFont(style: CSSStyleDeclaration, name: string) {
  const value = style.getPropertyValue(name)
  const [, number, unit] = /^([\d.]+)(px|pt|pc|in|cm|mm)$/.exec(value) ?? []
  const pixels = unit ? Number(number) * pixelsPer[unit]! : keywords[value]
  if (pixels !== undefined)
    style.setProperty(name, `${pixels / 16}rem`, style.getPropertyPriority(name))
}

/** The browser serializes all URLs in this form; strings are skipped as a whole. */
const stringOrUrl = /url\("((?:[^"\\]|\\.)*)"\)|"(?:[^"\\]|\\.)*"/g

const replaceUrls = (text: string, resolve: ResolveUrl): string =>
  text.includes('url(')
    ? text.replace(stringOrUrl, (whole, url?: string) => {
        if (url === undefined) return whole
        const resolved = resolve(unescaped(url))
        return `url("${resolved === null ? 'data:,' : resolved.replace(/["\\\n]/g, encodeURIComponent)}")`
      })
    : text

const unescaped = (text: string): string =>
  text.replace(/\\(?:([\da-f]{1,6})\s?|(.))/gi, (_, code?: string, character?: string) =>
    code ? String.fromCodePoint(Math.min(0x10ffff, Number.parseInt(code, 16))) : character!,
  )
