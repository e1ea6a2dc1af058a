import t from 'tap'
import { createCover } from '../../../lib/media/image/cover.ts'
import { findUnsafeContent } from '../../../lib/media/image/svg.ts'
import { checkSvg } from '../../../lib/media/image/svg-cost.ts'
import { renderSvg } from '../../../lib/media/image/svg-renderer.ts'

const svg = (inner: string, before = '') =>
  Buffer.from(
    `${before}<svg xmlns="http://www.w3.org/2000/svg" width="30" height="60">${inner}</svg>`,
  )
const webp = { maxSide: 400, format: 'webp', quality: 75 } as const

t.test('SVG is rendered at its size, limited to the requested size', async t => {
  t.match(await createCover(svg('<rect width="30" height="60"/>'), webp), { width: 30, height: 60 })
  const huge = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="20000" height="30000"/>')
  t.match(await createCover(huge, webp), { height: 400 })
})

t.test('hyperlinks, fragments and embedded images are accepted', async t => {
  const doctype = '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE svg PUBLIC "a" "http://b/c.dtd">'
  t.equal(
    findUnsafeContent(String(svg('<a xlink:href="http://example.org/"><rect/></a>', doctype))),
    null,
  )
  t.equal(
    findUnsafeContent(String(svg('<use href="#a"/><rect fill="url(#b)" mask="url( \'#c\')"/>'))),
    null,
  )
  t.equal(findUnsafeContent(String(svg('<image href="data:image/png;base64,AA=="/>'))), null)
})

t.test('external references, scripts and entities are rejected', async t => {
  const hostile = [
    svg('&a;', '<!DOCTYPE svg [<!ENTITY a "aaaa">]>'),
    svg('<script>alert(1)</script>'),
    svg('<image href="file:///etc/passwd"/>'),
    svg("<image xlink:href='http://example.org/a.png'/>"),
    svg('<image href="data:image/svg+xml;base64,AA=="/>'),
    svg('<style>@import "http://example.org/a.css";</style>'),
    svg('<rect fill="url(http://example.org/#a)"/>'),
    svg('<foreignObject><p/></foreignObject>'),
    svg('', '<?xml-stylesheet href="a.css"?>'),
    svg('', '<?xml version="1.0" encoding="UTF-7"?>'),
    Buffer.from('<svg width="10" height="10">\0</svg>'),
  ]
  for (const bytes of hostile)
    await t.rejects(createCover(bytes, webp), { code: 'unsupported_image' }, String(bytes))
})

t.test('deep, long and unclosed documents are processed in limited time', async t => {
  const started = performance.now()
  const nested = svg('<g>'.repeat(50_000) + '</g>'.repeat(50_000))
  const open = Buffer.from('<svg '.repeat(200_000))
  const comment = Buffer.from(`<!--${'-'.repeat(300_000)}`)
  const uses = Array.from(
    { length: 24 },
    (_, i) => `<g id="a${i}">${`<use href="#a${i + 1}"/>`.repeat(10)}</g>`,
  )
  for (const bytes of [nested, open, comment, svg(uses.join(''))])
    await createCover(bytes, webp).catch(error => t.ok(error.code))
  t.ok(performance.now() - started < 60_000)
})

t.test('references are counted before drawing, in any element and attribute', async t => {
  const levels = (element: (i: number) => string) =>
    svg(Array.from({ length: 8 }, (_, i) => element(i)).join(''))
  const ten = (text: string) => text.repeat(10)
  const pattern = `<pattern id="p">${'<g/>'.repeat(25_000)}</pattern>`
  const bombs = [
    levels(i => `<g id="a${i}">${ten(`<use href="#a${i + 1}"/>`)}</g>`),
    levels(i => `<symbol id="a${i}">${ten(`<use xlink:href=" #a${i + 1}"/>`)}</symbol>`),
    levels(i => `<g id='a${i}'>${ten(`<rect style="fill: url('#a${i + 1}')"/>`)}</g>`),
    levels(i => `<s:g id="a${i}">${ten(`<s:use href="#a${i + 1}"/>`)}</s:g>`),
    ...['mask', 'clip-path', 'filter', 'marker-start', 'stroke'].map(attribute =>
      levels(i => `<g id="a${i}">${ten(`<path ${attribute}="url(#a${i + 1})"/>`)}</g>`),
    ),
    svg(`<filter id="f">${'<feBlend/>'.repeat(200)}</filter>`),
    // Too much only because the style draws it again.
    svg(`<style>rect { fill: url(#p) }</style>${pattern}`),
    svg(`<text>${'a'.repeat(1_000_000)}</text>`),
    svg(`<path d="${'M0 0'.repeat(3_000_000)}"/>`),
  ]
  for (const bytes of bombs)
    await t.rejects(checkSvg(bytes), { code: 'too_large' }, String(bytes).slice(60, 160))
  for (const inner of ['<g id="a"><use href="#a"/></g>', '<use href="#none"/>', pattern])
    await checkSvg(svg(inner))
})

t.test('a drawing that takes longer than its time is stopped', async t => {
  const dashes = `<path stroke="red" stroke-dasharray="0.01" d="M0 0${' L30 60 L0 60 L30 0'.repeat(99_999)}"/>`
  t.throws(() => renderSvg(svg(dashes), 72, 500), { code: 'timeout' })
})
