// Regular expressions written by users, on an engine that matches in linear time.
import { RE2JS } from 're2js'
import { Invalid } from '../errors.ts'

export type Pattern = RE2JS
/** Named groups of a match, `null` for those that took no part. */
export type Groups = Record<string, string | null>

const longest = 1_000
// `(a{1000}){1000}` is short to write; the compiled program is what costs.
const largestProgram = 20_000
const compiled = new Map<string, Pattern>()

/** Compiles and keeps `source`. `name` is the field it came from. Throws Invalid with the reason. */
export function compilePattern(source: string, name: string): Pattern {
  const kept = compiled.get(source)
  if (kept) return kept
  if (source.length > longest) throw new Invalid(`${name} is longer than ${longest} characters`)
  const pattern = compileOrRefuse(source, name)
  if (pattern.programSize() > largestProgram) throw new Invalid(`${name} is too large`)
  if (compiled.size >= 200) compiled.clear()
  compiled.set(source, pattern)
  return pattern
}

/** The same, but null for a pattern that is none: stored configurations are never a reason to fail. */
export function tryPattern(source: string): Pattern | null {
  try {
    return compilePattern(source, 'pattern')
  } catch (error) {
    if (error instanceof Invalid) return null
    throw error
  }
}

/** The first match of `pattern` in `text`: its groups by number and by name, or null. */
export function matchPattern(
  pattern: Pattern,
  text: string,
): { all: (string | null)[]; named: Groups } | null {
  const matcher = pattern.matcher(text)
  if (!matcher.find()) return null
  const all = Array.from({ length: matcher.groupCount() + 1 }, (_, i) => matcher.group(i))
  const named = Object.entries(pattern.namedGroups()).map(([key, at]) => [key, all[at] ?? null])
  return { all, named: Object.fromEntries(named) }
}

/** Replaces `{key}` by the group of that name; unknown and empty ones leave nothing. */
export function fillTemplate(template: string, groups: Groups): string {
  return template.replace(/\{(\w{1,40})\}/g, (_, key: string) =>
    Object.hasOwn(groups, key) ? (groups[key] ?? '') : '',
  )
}

function compileOrRefuse(source: string, name: string): Pattern {
  try {
    return RE2JS.compile(source)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'not a regular expression'
    throw new Invalid(`${name} is no valid regular expression: ${reason}`, { cause })
  }
}
