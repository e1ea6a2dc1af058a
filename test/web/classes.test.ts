// Class names of the web application: each one of a style sheet is used, and each one that is used has a style.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const app = join(import.meta.dirname, '..', '..', 'lib', 'web', 'app')
const read = (pattern: string) =>
  globSync(pattern, { cwd: app, exclude: ['**/*.d.ts'] }).map(path => ({
    path,
    text: readFileSync(join(app, path), 'utf8'),
  }))
const sources = read('**/*.{ts,tsx}')
const literals = /['"]((?:[^'"\\\n]|\\.)*)['"]|`((?:[^`\\]|\\.)*)`/g

/** With the style sheet of each. */
function styledClasses() {
  const found = new Map<string, string>()
  for (const { path, text } of read('**/*.css'))
    for (const [, selector] of text.replace(/\/\*.*?\*\//gs, '').matchAll(/([^{}]*)\{/g))
      if (!selector!.trim().startsWith('@'))
        for (const [, name] of selector!.matchAll(/\.([a-z_][\w-]*)/gi)) found.set(name!, path)
  return found
}

/** The words of all texts of the sources, and how the names begin that are made at run time, as in `level-${n}`. */
function wordsOfSources() {
  const words = new Set<string>()
  const beginnings: string[] = []
  for (const { text } of sources)
    for (const [, quoted, template] of text.matchAll(literals)) {
      for (const word of (quoted ?? template!).split(/[^\w-]+/)) words.add(word)
      for (const [, beginning] of (template ?? '').matchAll(/([\w-]+-)\$\{/g))
        beginnings.push(beginning!)
    }
  return { words, beginnings }
}

/** The expression from an index to the comma or bracket that ends it; of an attribute its text. */
function expressionAt(text: string, start: number): string {
  if (text[start] === '"') return text.slice(start, text.indexOf('"', start + 1) + 1)
  let depth = 0
  for (let i = start; i < text.length; i++) {
    const sign = text[i]!
    if (`'"\``.includes(sign)) i = text.indexOf(sign, i + 1)
    else if ('([{'.includes(sign)) depth++
    else if (')]}'.includes(sign)) depth--
    if (depth < 0 || (sign === ',' && depth === 0)) return text.slice(start, i)
  }
  return text.slice(start)
}

/** The classes of elements, with the source of each; without those that are made at run time. */
function classesOfElements() {
  const found = new Map<string, string>()
  for (const { path, text } of sources)
    for (const {
      index,
      0: { length },
    } of text.matchAll(/\bclass(?:: |=\{?)/g)) {
      const expression = expressionAt(text, index + length)
      for (const literal of expression.matchAll(literals)) {
        if (/[=!]==\s*$/.test(expression.slice(0, literal.index))) continue
        const names = (literal[1] ?? literal[2]!).replace(/\$\{[^}]*\}/g, '$').split(/\s+/)
        for (const name of names) if (name && !name.includes('$')) found.set(name, path)
      }
    }
  return found
}

const places = (classes: Map<string, string>, isOne: (name: string) => boolean) =>
  [...classes].filter(([name]) => isOne(name)).map(([name, path]) => `${path}: ${name}`)

t.test('every class of a style sheet is used', async t => {
  const { words, beginnings } = wordsOfSources()
  const isUnused = (name: string) =>
    !words.has(name) && !beginnings.some(beginning => name.startsWith(beginning))
  const styled = styledClasses()
  t.ok(styled.size > 100)
  t.same(places(styled, isUnused), [])
})

t.test('every class of an element has a style', async t => {
  const styled = styledClasses()
  const used = classesOfElements()
  t.ok(used.size > 100)
  t.same(
    places(used, name => !styled.has(name)),
    [],
  )
})
