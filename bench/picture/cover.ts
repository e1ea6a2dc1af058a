// Covers: a scene with the title, and the number of the book or the author's name.
import sharp from 'sharp'
import { createRandom } from '../../test/kit/random.ts'
import { colorsOf, height, rect, width } from './drawing.ts'
import type { Title } from './shelf/title.ts'

const maxTextWidth = 420
const plain = 'League Spartan'

const escaped = (text: string) => text.replaceAll('&', '&amp;')

/** `index` is that of the book in its series. */
export async function coverImage(title: Title, index: number): Promise<Buffer> {
  const colors = colorsOf(title.colors[index % title.colors.length]!)
  const random = createRandom(title.series.length * 1_000 + index)
  const foot = title.books.length > 1 ? number(index) : byline(title.author, colors.near)
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
    ${title.scene(colors, random)}${shade(title)}${await heading(title)}${foot}</svg>`
  return await sharp(Buffer.from(svg)).jpeg({ quality: 88 }).toBuffer()
}

/** Behind light titles, so that they are legible. */
const shade = ({ ink }: Title) =>
  ink.startsWith('#f')
    ? `<linearGradient id="shade" x2="0" y2="1"><stop stop-opacity="0.35"/><stop offset="1" stop-opacity="0"/></linearGradient>${rect(0, 0, width, 320, 'url(#shade)')}`
    : ''

async function heading(title: Title): Promise<string> {
  const { lines, font, weight = 'bold', size, ink, leading = 0.95 } = title
  const widths = await Promise.all(lines.map(text => textWidth(text, `${font} ${weight} ${size}`)))
  const fitting = size * Math.min(1, maxTextWidth / Math.max(...widths))
  const texts = lines.map(
    (text, i) =>
      `<text x="240" y="${44 + fitting * (0.8 + i * leading)}" text-anchor="middle">${escaped(text)}</text>`,
  )
  return `<g font-family="${font}" font-weight="${weight}" font-size="${fitting}" fill="${ink}">${texts.join('')}</g>`
}

/** Depends on the fonts that are installed. */
async function textWidth(text: string, font: string): Promise<number> {
  return (await sharp({ text: { text: escaped(text), font, dpi: 72 } }).metadata()).width
}

const number = (index: number) =>
  `<circle cx="424" cy="664" r="34" fill="#fff" stroke="#0002"/>
  <text x="424" y="679" text-anchor="middle" font-family="${plain}" font-weight="bold" font-size="42" fill="#1c1c22">${index + 1}</text>`

const byline = (author: string, fill: string) =>
  `${rect(0, 652, width, 68, fill)}<text x="240" y="696" text-anchor="middle" font-family="${plain}" font-weight="600" font-size="27" letter-spacing="2.5" fill="#fff">${author.toUpperCase()}</text>`
