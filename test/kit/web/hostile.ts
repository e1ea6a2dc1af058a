// Books, files and texts that try to run scripts in the web application or to load something from other hosts. A
// script that runs requests `/ran/<name>`; other hosts end in `.example`. Both are problems of a page.
import { zipOfFiles } from '../files/archives.ts'
import { epubBytes, item } from '../files/epub.ts'
import type { Files } from '../files/folders.ts'
import { pageImage } from './books.ts'

const script = (name: string) => `fetch('/ran/${name}')`

/** Markup that runs a script where a text is taken for markup. */
export const hostileText = (name: string): string =>
  `"'><img src=x onerror="${script(name)}"><script>${script(name)}</script><svg/onload=${script(name)}>{{7*7}}`

/** Without slashes, which file names cannot contain. */
const hostileName = (name: string) =>
  `${name}"'><img src=x onerror=fetch('ran?${name}')><script>fetch('ran?${name}')`

const escapeXml = (text: string) =>
  text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)

const size = { width: 300, height: 450 }

/** A comic whose metadata is markup, EPUBs of both layouts, and a file that is no book. Paths are hostile too. */
export async function hostileFiles(): Promise<Files> {
  const pages = Object.fromEntries(
    await Promise.all([1, 2, 3].map(async n => [`${n}.jpg`, await pageImage(n, size)] as const)),
  )
  const elements = ['Title', 'Series', 'Summary', 'Writer', 'Publisher', 'Genre', 'Tags', 'Notes']
  const info = [
    ...elements.map(name => `<${name}>${escapeXml(hostileText(`info-${name}`))}</${name}>`),
    `<Web>javascript:${escapeXml(script('web-link'))} https://books.example/${escapeXml('"onclick="fetch(1)')}</Web>`,
    '<Number>1</Number>',
  ]
  const comic = zipOfFiles({
    'ComicInfo.xml': `<?xml version="1.0"?><ComicInfo>${info.join('')}</ComicInfo>`,
    ...pages,
  })
  return {
    [`${hostileName('folder')}/${hostileName('comic')}.cbz`]: comic,
    [`Reflowable/${hostileName('reflowable')}.epub`]: hostileEpub(pages, false),
    [`Fixed/${hostileName('fixed')}.epub`]: hostileEpub(pages, true),
    [`Broken/${hostileName('broken')}.cbz`]: Buffer.from('no archive'),
  }
}

function hostileEpub(pages: Record<string, Buffer>, isFixed: boolean): Buffer {
  const name = isFixed ? 'fixed' : 'reflowable'
  const layout = '<meta property="rendition:layout">pre-paginated</meta>'
  const chapters = ['one', 'two']
  const title = escapeXml(hostileText(`${name}-title`))
  return epubBytes({
    metadata: `<dc:title xmlns:dc="http://purl.org/dc/elements/1.1/">${title}</dc:title>
      <dc:description xmlns:dc="http://purl.org/dc/elements/1.1/">${title}</dc:description>${isFixed ? layout : ''}`,
    manifest: [
      ...chapters.map(id => item(id, `${id}.xhtml`, 'application/xhtml+xml', 'scripted')),
      item('drawing', 'drawing.svg', 'image/svg+xml'),
      item('nav', 'nav.xhtml', 'application/xhtml+xml', 'nav'),
      item('css', 'style.css', 'text/css'),
      item('js', 'book.js', 'text/javascript'),
      ...Object.keys(pages).map((path, i) => item(`i${i}`, path, 'image/jpeg')),
    ].join(''),
    spine: [...chapters, 'drawing'].map(id => `<itemref idref="${id}"/>`).join(''),
    files: {
      ...Object.fromEntries(
        chapters.map(id => [`OPS/${id}.xhtml`, hostileChapter(`${name}-${id}`)]),
      ),
      ...Object.fromEntries(Object.entries(pages).map(([path, bytes]) => [`OPS/${path}`, bytes])),
      'OPS/drawing.svg': hostileDrawing(`${name}-drawing`),
      'OPS/nav.xhtml': xhtml(
        `<nav epub:type="toc"><ol><li><a href="one.xhtml">${escapeXml(hostileText(`${name}-toc`))}</a></li><li><a href="javascript:${escapeXml(script('toc-link'))}">Two</a></li></ol></nav>`,
      ),
      'OPS/style.css': `@import url(http://styles.example/a.css);
        @font-face { font-family: f; src: url(http://fonts.example/f.woff2) }
        body { font-family: f; background: url(http://images.example/b.png) }`,
      'OPS/book.js': script(`${name}-file`),
    },
  })
}

const xhtml = (body: string, head = '', attributes = '') =>
  `<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" xmlns:xlink="http://www.w3.org/1999/xlink"><head><title>t</title>${head}</head><body${attributes}>${body}</body></html>`

function hostileChapter(name: string): string {
  const run = escapeXml(script(name))
  const head = `<meta name="viewport" content="width=300, height=450"/>
    <meta http-equiv="refresh" content="0; url=http://refresh.example/"/>
    <meta http-equiv="Content-Security-Policy" content="script-src *"/>
    <base href="http://base.example/"/>
    <link rel="stylesheet" href="style.css"/><link rel="stylesheet" href="http://styles.example/b.css"/>
    <link rel="preload" as="image" href="http://preload.example/"/><link rel="dns-prefetch" href="//dns.example/"/>
    <style>@import "http://styles.example/c.css"; p { background: url('http://images.example/c.png') }</style>
    <script>${run}</script><script src="book.js"></script><script src="http://scripts.example/a.js"></script>
    <script type="module">${run}</script>`
  const body = `<p id="start" onclick="${run}" onpointerdown="${run}" style="background: url(http://images.example/d.png)">Chapter ${name}</p>
    <img src="1.jpg" onload="${run}" alt="page"/><img src="absent.png" onerror="${run}" alt=""/>
    <img src="http://images.example/e.png" srcset="http://images.example/f.png 2x" alt=""/>
    <iframe src="http://frames.example/"></iframe><iframe srcdoc="&lt;script&gt;${run}&lt;/script&gt;"></iframe>
    <object data="http://objects.example/"></object><embed src="http://objects.example/"/>
    <video src="http://media.example/a.mp4" poster="http://media.example/p.png" autoplay="autoplay"></video><audio src="http://media.example/a.mp3" autoplay="autoplay"></audio>
    <form action="http://forms.example/"><input name="a" autofocus="autofocus" onfocus="${run}"/><button formaction="javascript:${run}">Send</button></form>
    <p><a href="javascript:${run}">script link</a> <a href="http://links.example/">web link</a> <a href="data:text/html,&lt;script&gt;${run}&lt;/script&gt;">data link</a></p>
    <svg xmlns="http://www.w3.org/2000/svg" onload="${run}" viewBox="0 0 10 10"><script>${run}</script><image xlink:href="http://images.example/g.png"/><a xlink:href="javascript:${run}"><text y="5">t</text></a><set attributeName="onmouseover" to="${run}"/><foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="http://frames.example/"></iframe></foreignObject></svg>
    <math xmlns="http://www.w3.org/1998/Math/MathML"><mtext href="javascript:${run}">m</mtext></math>
    <img src="1.jpg" name="body" alt=""/><form style="background: url(http://images.example/i.png)"><select name="attributes"><option>o</option></select></form>
    ${'<div>'.repeat(4_000)}deep${'</div>'.repeat(4_000)}
    <details open="open" ontoggle="${run}"><summary>s</summary></details><marquee onstart="${run}">m</marquee>
    <p>The end of ${name}.</p>`
  return xhtml(body, head, ` onload="${run}" onhashchange="${run}"`)
}

const hostileDrawing = (name: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 300 450" onload="${escapeXml(script(name))}"><script>${escapeXml(script(name))}</script><image xlink:href="http://images.example/h.png" width="10" height="10"/><rect width="300" height="450" fill="#468"/></svg>`
