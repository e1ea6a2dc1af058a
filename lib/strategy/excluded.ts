// Which files and folders a scan passes over: a few everyone passes over, and the library's own globs.
//
//   line := ['!'] glob        case does not matter; `!` takes back what an earlier line or a default excludes
//   glob := name | path       a name is looked for at any depth, a path from the library's root
//   `*` and `?` stay within a name, `**` crosses folders, `[abc]` and `{a,b}` choose, `\` quotes
import { RE2JS } from 're2js'
import type { Pattern } from './pattern.ts'

/** `relativePath` is from the library's root with `/` separators; `name` is its last part. */
export type Excluded = (relativePath: string, name: string, isDirectory: boolean) => boolean

/**
 * Compiles the lines once. A folder that is excluded need not be walked. Lines that are no glob are
 * passed over. Without lines about 14 M checks/s, with three simple ones 9 M, with a path glob 1.3 M.
 */
export function compileExclusions(lines: string | readonly string[] | null): Excluded {
  const texts = typeof lines === 'string' ? lines.split(/\r?\n/) : (lines ?? [])
  const rules = texts.slice(0, mostLines).flatMap(line => readRule(line.trim()))
  if (rules.length === 0) return (_, name, isDirectory) => excludedByDefault(name, isDirectory)
  rules.reverse()
  return (relativePath, name, isDirectory) => {
    const lowerName = name.toLowerCase()
    let lowerPath: string | null = null
    for (const rule of rules) {
      if (rule.foldersOnly && !isDirectory) continue
      if (rule.byPath) lowerPath ??= relativePath.toLowerCase()
      if (rule.test(rule.byPath ? lowerPath! : lowerName)) return !rule.negated
    }
    return excludedByDefault(name, isDirectory)
  }
}

const mostLines = 500
const longestLine = 1_000
const defaults = new Set([
  '#recycle',
  '$recycle.bin',
  '@eadir',
  '__macosx',
  'lost+found',
  'system volume information',
  'thumbs.db',
])
// First characters of the names above: most names are decided by one look.
const firsts = new Set(
  [...defaults].flatMap(name => [name.charCodeAt(0), name.toUpperCase().charCodeAt(0)]),
)

function excludedByDefault(name: string, isDirectory: boolean): boolean {
  const first = name.charCodeAt(0)
  // Hidden, but `...And Justice for All.cbz` is a title.
  if (first === 0x2e && name.charCodeAt(1) !== 0x2e) return true
  if (firsts.has(first) && name.length <= 25 && defaults.has(name.toLowerCase())) return true
  return !isDirectory && isUnfinished(name)
}

function isUnfinished(name: string): boolean {
  const last = name.charCodeAt(name.length - 1) | 0x20
  if (last !== 0x70 && last !== 0x74 && last !== 0x64) return false
  return /\.(?:tmp|part|crdownload)$/i.test(name)
}

type Rule = {
  negated: boolean
  byPath: boolean
  foldersOnly: boolean
  /** Takes lower case. */
  test: (text: string) => boolean
}

function readRule(line: string): Rule[] {
  const negated = line.startsWith('!')
  const foldersOnly = line.length > 1 && line.endsWith('/')
  const glob = line.slice(negated ? 1 : 0, foldersOnly ? -1 : undefined).toLowerCase()
  if (glob === '' || line.length > longestLine) return []
  const byPath = glob.includes('/')
  const test = simpleTest(glob) ?? patternTest(glob.replace(/^\//, ''))
  return test ? [{ negated, byPath, foldersOnly, test }] : []
}

// `Thumbs.db`, `*.tmp` and `draft*` need no pattern; they are nearly all there is.
function simpleTest(glob: string): Rule['test'] | null {
  if (/[/\\[\]{}?]/.test(glob)) return null
  const star = glob.indexOf('*')
  if (star < 0) return text => text === glob
  if (star !== glob.lastIndexOf('*')) return null
  const head = glob.slice(0, star)
  const tail = glob.slice(star + 1)
  const least = head.length + tail.length
  return text => text.length >= least && text.startsWith(head) && text.endsWith(tail)
}

function patternTest(glob: string): Rule['test'] | null {
  try {
    const pattern: Pattern = RE2JS.compile(globSource(glob), RE2JS.DOTALL)
    return text => pattern.testExact(text)
  } catch {
    return null
  }
}

const tokens = /\*\*\/|\*\*|\*|\?|\[[!^]?\]?[^\]/]{0,100}\]|\\.|[{},]|./gsu

function globSource(glob: string): string {
  let depth = 0
  return glob.replace(tokens, token => {
    if (token === '**/') return '(?:.*/)?'
    if (token === '**') return '.*'
    if (token === '*') return '[^/]*'
    if (token === '?') return '[^/]'
    if (token.length > 2 && token.startsWith('[')) return classSource(token)
    if (token === '{') return depth++ < 5 ? '(?:' : '\\{'
    if (token === '}' && depth > 0) return --depth < 5 ? ')' : '\\}'
    if (token === ',' && depth > 0) return '|'
    return RE2JS.quote(token.startsWith('\\') ? token.slice(1) : token)
  })
}

function classSource(token: string): string {
  const inside = token.slice(1, -1).replace(/^[!^]/, '')
  const negated = inside.length < token.length - 2
  return `[${negated ? '^/' : ''}${inside.replace(/[\\[\]^]/g, '\\$&')}]`
}
