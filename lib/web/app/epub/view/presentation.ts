// The reader's style sheet for documents of an EPUB: pages or one long column, type and colors.

import { computed, signal } from '@preact/signals'
import { theme } from '../../shell/appearance.tsx'
import { dyslexicFamily, ownFont } from '../fonts.ts'
import { type EpubSettings, settings } from '../settings.ts'
import type { PageGeometry } from './geometry.ts'

export type Palette = {
  background: string
  text: string
  link: string
  isForced: boolean
  isDark: boolean
}

const palettes = {
  light: {
    background: '#ffffff',
    text: '#1d1f24',
    link: '#a84510',
    isForced: false,
    isDark: false,
  },
  sepia: { background: '#f6ecd9', text: '#43341f', link: '#8a4210', isForced: true, isDark: false },
  dark: { background: '#15161a', text: '#d5d8df', link: '#f2a65a', isForced: true, isDark: true },
} as const satisfies Record<string, Palette>

const paletteOf = ({ theme }: EpubSettings, isAppDark: boolean): Palette =>
  palettes[theme === 'app' ? (isAppDark ? 'dark' : 'light') : theme]

const families = {
  serif:
    'Literata, "Iowan Old Style", Charter, Georgia, "Noto Serif", "Noto Serif CJK JP", "Hiragino Mincho ProN", "Yu Mincho", serif',
  sans: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK JP", sans-serif',
}

const familyOf = (family: Exclude<EpubSettings['family'], 'publisher'>) => {
  if (family === 'dyslexic') return `"${dyslexicFamily}", ${families.sans}`
  if (family === 'own') return `"${ownFont.value?.family}", ${families.serif}`
  return families[family]
}

const text = 'p, li, dd, dt, blockquote, figcaption'

export function presentationCss(settings: EpubSettings, palette: Palette, geometry: PageGeometry) {
  return [flowCss(geometry), typeCss(settings), colorsCss(palette), contentsCss(geometry)].join(
    '\n',
  )
}

const reset =
  'margin: 0 !important; border: 0 !important; min-width: 0 !important; max-width: none !important; min-height: 0 !important; max-height: none !important; transform: none; zoom: 1 !important; float: none !important; position: static !important;'

/** Pages are the columns of a multi-column layout: the body has the size of a page and its columns overflow it. */
function flowCss(geometry: PageGeometry) {
  const { width, height, columns, margin, marginBlock, isScrolled, isVertical } = geometry
  const padding = isVertical ? `${margin}px` : `${marginBlock}px ${margin}px`
  const common = `
    html { ${reset} padding: 0 !important; overflow: clip !important; columns: auto !important }
    body { ${reset} display: block !important; box-sizing: border-box !important; padding: ${padding} !important; overflow: visible !important }`
  if (isScrolled) {
    const size = isVertical
      ? `width: max-content !important; height: ${height}px !important`
      : `width: ${width}px !important; height: auto !important`
    return `${common} html { ${size} } body { columns: auto !important; padding-block-end: 80px !important; ${isVertical ? size : 'width: auto !important; height: auto !important'} }`
  }
  const inlineSize = isVertical ? height : width
  return `${common}
    html, body { width: ${width}px !important; height: ${height}px !important }
    body {
      column-count: auto !important; column-width: ${inlineSize / columns - 2 * margin}px !important;
      column-gap: ${2 * margin}px !important; column-fill: auto !important; column-rule: none !important;
    }`
}

function typeCss({ fontSize, family, lineHeight, alignment, hyphens }: EpubSettings) {
  const rules = [
    `html { font-size: ${(fontSize / 100) * 1.125}em !important; -webkit-text-size-adjust: 100%; text-size-adjust: 100% }`,
  ]
  rules.push('body { overflow-wrap: break-word; font-size: 1rem }')
  if (family !== 'publisher')
    rules.push(
      `html, body, ${text}, div, span, section, article, h1, h2, h3, h4, h5, h6, a, em, i, b, strong, td, th { font-family: ${familyOf(family)} !important }`,
    )
  else rules.push(`html { font-family: ${families.serif} }`)
  if (lineHeight !== 'publisher')
    rules.push(`html, body, div, ${text} { line-height: ${lineHeight} !important }`)
  else rules.push('html { line-height: 1.5 }')
  if (alignment !== 'publisher')
    rules.push(
      `${text} { text-align: ${alignment} !important${alignment === 'justify' ? '; hyphens: auto' : ''} }`,
    )
  if (hyphens !== 'publisher') {
    const value = hyphens === 'auto' ? 'auto' : 'none'
    rules.push(`${text} { hyphens: ${value} !important; -webkit-hyphens: ${value} !important }`)
  }
  return rules.join('\n')
}

function colorsCss({ background, text, link, isForced, isDark }: Palette) {
  const scheme = `html { color-scheme: ${isDark ? 'dark' : 'light'} only }`
  if (!isForced)
    return `${scheme} html { background-color: ${background}; color: ${text} } :where([data-link]) { color: ${link} }`
  return `${scheme}
    html { background: ${background} !important; color: ${text} !important }
    body { background: none !important }
    body, body *:not(svg, svg *, math *) { color: inherit !important; background-color: transparent !important; border-color: color-mix(in srgb, currentcolor 40%, transparent) !important; text-shadow: none !important; box-shadow: none !important }
    body [data-link], body [data-link] * { color: ${link} !important }`
}

/** Nothing may be larger than a page, or it would overflow its column. */
function contentsCss(geometry: PageGeometry) {
  const { width, height, columns, margin, marginBlock, isScrolled, isVertical } = geometry
  const inlineSize = isVertical ? height - 2 * margin : width / columns - 2 * margin
  const blockSize = isScrolled
    ? 'none'
    : `${isVertical ? width - 2 * marginBlock : height - 2 * marginBlock}px`
  return `
    img, video, svg:not(svg svg), object, canvas { max-inline-size: min(100%, ${inlineSize}px) !important; ${isScrolled ? '' : `max-block-size: ${blockSize} !important;`} object-fit: contain; break-inside: avoid }
    pre, code, kbd, samp { white-space: pre-wrap !important; overflow-wrap: anywhere !important }
    table { inline-size: auto !important; max-inline-size: none !important; min-inline-size: 0 !important }
    td, th { inline-size: auto !important; min-inline-size: 0 !important; white-space: normal !important }
    table[data-fitted] { max-inline-size: 100% !important } table[data-fitted] :is(td, th) { overflow-wrap: anywhere }
    div, section, article, aside, main, nav, figure, blockquote, p, ul, ol, dl, header, footer { max-inline-size: 100% !important }
    h1, h2, h3, h4 { break-after: avoid }
    p, li, blockquote { orphans: 2; widows: 2 }
    hr { max-inline-size: 100% }
    :where([data-link]) { text-decoration: underline; cursor: pointer }
    :focus-visible { outline: 2px solid currentcolor }`
}

const query = matchMedia('(prefers-color-scheme: dark)')
const isSystemDark = signal(query.matches)
query.addEventListener('change', () => {
  isSystemDark.value = query.matches
})

/** Colors of the reader, from its settings or the application. */
export const palette = computed(() => {
  const isAppDark = theme.value === 'dark' || (theme.value === 'system' && isSystemDark.value)
  return paletteOf(settings.value, isAppDark)
})
