// User-defined regular expressions, matched in linear time by RE2.
import { createRequire } from 'node:module'
import type { RE2JS } from 're2js'
import { Invalid } from '../../base/errors.ts'
import { lazy } from '../../base/lazy.ts'
import { maxSteps } from '../../base/meter.ts'

const require = createRequire(import.meta.url)
export const re2 = lazy<typeof import('re2js')>(() => require('re2js'))

export type Pattern = RE2JS
/** Named groups of a match; null for groups that did not participate. */
export type Groups = Record<string, string | null>

const maxLength = 1_000
/** A short pattern such as `(a{1000}){1000}` can compile to a large program. */
const maxProgramSize = 900
/** Limit for all patterns of one setting: instructions, and the cost of compiling them. */
const maxTotalSize = 2_000
/** Longer texts do not match. */
const maxTextLength = 1_000
const compiled = new Map<string, Pattern>()

/** Compiles and caches `source`. `name` is the field for the error message. Throws Invalid with the reason. */
export function compilePattern(source: string, name: string): Pattern {
  const cached = compiled.get(source)
  if (cached) return cached
  if ([...source].length > maxLength)
    throw new Invalid(`${name} is longer than ${maxLength} characters`)
  // Compiling a program of a million instructions takes as long as running it.
  if (repeatedLength(source) > 4 * maxProgramSize || compilingSize(source) > maxProgramSize)
    throw new Invalid(`${name} is too large`)
  const pattern = compileOrThrow(source, name)
  if (pattern.programSize() > maxProgramSize) throw new Invalid(`${name} is too large`)
  if (compiled.size >= 200) compiled.clear()
  compiled.set(source, pattern)
  return pattern
}

/** Steps needed to search a text of a given length for a pattern, in the worst case. */
export const searchSteps = (pattern: Pattern, length: number): number =>
  length * stepsPerCharacter(pattern)

/** How much of a text can be searched for a pattern in a given number of steps. */
export const searchableLength = (pattern: Pattern, steps: number): number =>
  Math.floor(steps / stepsPerCharacter(pattern))

// Each character may visit all instructions, except the first and last ones of the program.
const stepsPerCharacter = (pattern: Pattern) => 0.2 + Math.max(0, pattern.programSize() - 2) / 10

/**
 * Checks all patterns of a setting, which run one after another on the same text. `nameOf` returns the field
 * of the pattern at an index. Throws Invalid, also when the patterns together are too large.
 */
export function checkPatterns(sources: readonly string[], nameOf: (index: number) => string): void {
  let size = 0
  for (const [i, source] of sources.entries()) {
    size += compilingSize(source)
    if (size <= maxTotalSize) size += compilePattern(source, nameOf(i)).programSize()
    if (size > maxTotalSize) throw new Invalid(`${nameOf(i)}: the patterns together are too large`)
  }
}

/** `compilePattern`, but null for an invalid pattern: a stored configuration must not cause a failure. */
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
  if (text.length > maxTextLength || searchSteps(pattern, text.length) > maxSteps) return null
  const matcher = pattern.matcher(text)
  if (!matcher.find()) return null
  const all = Array.from({ length: matcher.groupCount() + 1 }, (_, i) => matcher.group(i))
  const named = Object.entries(pattern.namedGroups()).map(([key, at]) => [key, all[at] ?? null])
  return { all, named: Object.fromEntries(named) }
}

/** Replaces `{key}` with the group of that name; unknown and empty groups with nothing. */
export function fillTemplate(template: string, groups: Groups): string {
  return template.replace(/\{(\w{1,40})\}/g, (_, key: string) =>
    Object.hasOwn(groups, key) ? (groups[key] ?? '') : '',
  )
}

const tokens = /\\(?:[pP]\{[^}]*\}|.)|\[(?:\\.|[^\]])*\]|\{(\d+)(?:,(\d*))?\}|./gsu

/** Number of atoms in a pattern, each multiplied by the repetitions around it. */
function repeatedLength(source: string): number {
  const groups = [0]
  // Length of the last atom or group.
  let last = 0
  for (const [token, low, high] of source.matchAll(tokens)) {
    if (token === '(') groups.push(0)
    else if (low !== undefined) {
      const times = Number(high || low)
      groups[groups.length - 1]! += last * (times - 1)
      last *= times
    } else {
      last = token === ')' && groups.length > 1 ? groups.pop()! : 1
      groups[groups.length - 1]! += last
    }
  }
  return groups.reduce((sum, length) => sum + length, 0)
}

const unicodeClass = /\\[pP]/g
const wideRange = /-(?:\\x\{[0-9a-f]{4,}\}|[^\0-\u0fff])/giu

/**
 * The cost of compiling a pattern, in program instructions: its text, classes of hundreds of ranges, and
 * large ranges, whose characters are visited one by one in case-insensitive patterns.
 */
function compilingSize(source: string): number {
  const classes = source.match(unicodeClass)?.length ?? 0
  const ranges = source.match(wideRange)?.length ?? 0
  return source.length / 20 + classes * 15 + ranges * 80
}

function compileOrThrow(source: string, name: string): Pattern {
  const { RE2JS } = re2()
  try {
    return RE2JS.compile(source)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'not a regular expression'
    throw new Invalid(`${name} is not a valid regular expression: ${reason}`, { cause })
  }
}
