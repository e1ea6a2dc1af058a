// Links of the documents: each leads to a file, a picture or a heading that exists.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'
import { anchorOf } from '../docs/site/anchor.ts'

const root = join(import.meta.dirname, '..')
const names = [
  ...readdirSync(root),
  ...readdirSync(join(root, 'docs')).map(name => `docs/${name}`),
].filter(name => name.endsWith('.md'))
const texts = new Map(names.map(name => [name, readFileSync(join(root, name), 'utf8')]))

const withoutCode = (text: string) => text.replace(/^ *```.*?^ *```$/gms, '')

/** Targets of links in Markdown and in the HTML within it. */
function linksOf(text: string): string[] {
  const links = /\]\(([^)\s]+)\)|\s(?:href|src|srcset)="([^"\s]+)"/g
  return [
    ...withoutCode(text)
      .replace(/`[^`\n]*`/g, '')
      .matchAll(links),
  ].map(([, markdown, html]) => (markdown ?? html)!)
}

/** Repeated headings have a number. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading] of withoutCode(text).matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const anchor = anchorOf(heading!)
    let unique = anchor
    for (let i = 1; anchors.has(unique); i++) unique = `${anchor}-${i}`
    anchors.add(unique)
  }
  return anchors
}

t.test('links of documents lead to files and headings that exist', async t => {
  const dead = [...texts].flatMap(([name, text]) =>
    linksOf(text)
      .filter(link => !/^[a-z]+:/.test(link))
      .filter(link => {
        const [path = '', anchor] = link.split('#')
        const target = path === '' ? name : normalize(join(dirname(name), path))
        if (!existsSync(join(root, target))) return true
        return anchor !== undefined && !anchorsOf(texts.get(target) ?? '').has(anchor)
      })
      .map(link => `${name}: ${link}`),
  )
  t.same(dead, [])
})

t.test('the documents have links to look at, with anchors and pictures', async t => {
  const links = linksOf(texts.get('README.md')!)
  for (const link of ['docs/operations.md#backup-and-restore', './docs/pictures/home-dark.webp'])
    t.ok(links.includes(link), link)
})
