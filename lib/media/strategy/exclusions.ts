// Exclusion rules of a library scan: built-in names and the glob patterns of the library.
//
//   rule := ['!'] glob        case-insensitive; `!` includes what an earlier rule or a default excludes
//   glob := name | path       a name matches at any depth, a path from the root of the library
//   `*` and `?` match within a name, `**` across folders, `[abc]` and `{a,b}` alternatives, `\` escapes
import { type Pattern, re2 } from './pattern.ts'

/**
 * Whether a file or folder is excluded. `relativePath` is relative to the library root, with `/` separators;
 * `name` is its last part.
 */
export type Excluded = (relativePath: string, name: string, isDirectory: boolean) => boolean

/**
 * Compiles the rules once. The content of an excluded folder need not be listed. Ignores invalid globs. Over
 * 1 M checks/s.
 */
export function compileExclusions(lines: string | readonly string[] | null): Excluded {
  const texts = typeof lines === 'string' ? lines.split(/\r?\n/) : (lines ?? [])
  const rules = texts.slice(0, maxRules).flatMap(line => readRule(line.trim()))
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

const maxRules = 500
const maxRuleLength = 1_000
// Recycle bins, snapshots and indexes of Synology, QNAP, Asustor, NetApp, Windows and macOS: their files are
// copies or deleted.
const defaults = new Set(
  (
    '#recycle|#snapshot|$recycle.bin|@__thumb|@database|@eadir|@recently-snapshot|@recycle|@sharebin|' +
    '@sharesnap|@snapshot|@tmp|__macosx|lost+found|network trash folder|system volume information|' +
    'temporary items|thumbs.db|~snapshot'
  ).split('|'),
)
// Snapshots as shown by Samba, and files recovered by chkdsk.
const numberedDefault = /^(?:@gmt-\d{4}\.\d\d\.\d\d-\d\d\.\d\d\.\d\d|found\.\d{3})$/i
// Incomplete downloads, and lock files of office programs (`~$Vol 3.epub`).
const unfinished = /^~\$|\.(?:tmp|part|crdownload)$/i
function excludedByDefault(name: string, isDirectory: boolean): boolean {
  // Hidden files, but `...And Justice for All.cbz` is a title.
  if (/^\.(?!\.)/.test(name) || defaults.has(name.toLowerCase())) return true
  return (isDirectory ? numberedDefault : unfinished).test(name)
}

type Rule = {
  negated: boolean
  byPath: boolean
  foldersOnly: boolean
  /** Expects lowercase. */
  test: (text: string) => boolean
}

function readRule(line: string): Rule[] {
  const negated = line.startsWith('!')
  const foldersOnly = line.length > 1 && line.endsWith('/')
  const glob = line.slice(negated ? 1 : 0, foldersOnly ? -1 : undefined).toLowerCase()
  if (glob === '' || line.length > maxRuleLength) return []
  const byPath = glob.includes('/')
  const test = simpleTest(glob) ?? patternTest(glob.replace(/^\//, ''))
  return test ? [{ negated, byPath, foldersOnly, test }] : []
}

// Fast path without a regular expression for the most common rules: `Thumbs.db`, `*.tmp`, `draft*`.
function simpleTest(glob: string): Rule['test'] | null {
  if (/[/\\[\]{}?]/.test(glob)) return null
  const star = glob.indexOf('*')
  if (star < 0) return text => text === glob
  if (star !== glob.lastIndexOf('*')) return null
  const head = glob.slice(0, star)
  const tail = glob.slice(star + 1)
  const minLength = head.length + tail.length
  return text => text.length >= minLength && text.startsWith(head) && text.endsWith(tail)
}

function patternTest(glob: string): Rule['test'] | null {
  const { RE2JS } = re2()
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
    return re2().RE2JS.quote(token.startsWith('\\') ? token.slice(1) : token)
  })
}

function classSource(token: string): string {
  const inside = token.slice(1, -1).replace(/^[!^]/, '')
  const negated = inside.length < token.length - 2
  return `[${negated ? '^/' : ''}${inside.replace(/[\\[\]^]/g, '\\$&')}]`
}

// Names of later volumes of a split archive, which are not separate books.
//
//   later := stem .partN (.rar | .cbr)       N from 2: the first volume is read and reports the error
//          | stem (.rNN | .zNN) [.ext]       the first is stem.rar, stem.zip
//          | stem (.7z | .rar | .zip | .split …) .NNN [.ext]
//
// `Batman.002.cbz` is a book: a number counts only after the extension of an archive.
const laterVolumePattern =
  /\.(?:part0{0,4}(?:[2-9]|[1-9]\d{1,3})\.(?:rar|cbr)|[rz]\d\d(?:\.cb[rz7])?|(?:7z|rar|zip|cb[rz7]|split)\.\d{3}(?:\.cb[rz7])?)$/i

/** Whether a file is a later volume, which discovery skips. About 30 M names/s. */
export const isLaterVolume = (name: string): boolean => laterVolumePattern.test(name)
