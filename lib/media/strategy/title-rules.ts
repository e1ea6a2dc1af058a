// Title rules: regular expression replacements for the titles of new series, applied in order.
import type { Static } from 'typebox'
import { Errors } from 'typebox/schema'
import { Invalid } from '../../base/errors.ts'
import { createMeter, type Meter } from '../../base/meter.ts'
import { Type, withDefaults } from '../../base/schema-type.ts'
import { checkPatterns, type Pattern, searchSteps, tryPattern } from './pattern.ts'

export const titleRule = Type.Object({
  pattern: Type.String({ minLength: 1, maxLength: 1_000 }),
  /** `$1` and `$2` refer to groups. */
  replacement: Type.String({ maxLength: 1_000 }),
  description: Type.Optional(Type.Union([Type.String({ maxLength: 1_000 }), Type.Null()])),
  enabled: Type.Boolean({ default: true }),
})
export type TitleRule = Static<typeof titleRule>

const maxRules = 100
/** Longer names are truncated: `$0$0` doubles the title with each rule. */
const maxTitleLength = 500

/** Returns the rules to store. Throws Invalid with the index (from 0) of the invalid rule. */
export function validateRules(input: unknown): TitleRule[] {
  if (input === null || input === undefined) return []
  if (!Array.isArray(input)) throw new Invalid('Title rules must be a list')
  if (input.length > maxRules) throw new Invalid(`Too many title rules (maximum ${maxRules})`)
  const rules = input.map((rule, i) => {
    const full = withDefaults(titleRule, structuredClone(rule))
    const [, [error]] = Errors(titleRule, full)
    if (error)
      throw new Invalid(`Rule ${i}: ${error.instancePath.slice(1) || 'value'} ${error.message}`)
    return full as TitleRule
  })
  checkPatterns(
    rules.map(rule => rule.pattern),
    i => `Rule ${i}: pattern`,
  )
  return rules
}

/**
 * Compiles rules for many titles. Ignores disabled and invalid rules, and rules once no steps are left. Does
 * not trim titles.
 */
export function compileRules(rules: readonly Partial<TitleRule>[]): (title: string) => string {
  const steps: { pattern: Pattern; replacement: string }[] = []
  for (const { pattern: source, replacement = '', enabled = true } of rules) {
    const pattern = enabled && source ? tryPattern(source) : null
    if (pattern) steps.push({ pattern, replacement })
  }
  if (steps.length === 0) return title => title
  return title => {
    const meter = createMeter('Title rules')
    return steps.reduce(
      (text, { pattern, replacement }) => replaceAll({ pattern, replacement, meter }, text),
      title.slice(0, maxTitleLength),
    )
  }
}

/** `appendReplacement`, which the package's `replaceAll` calls repeatedly, is missing from its types. */
type ReplacingMatcher = {
  find(): boolean
  end(): number
  appendReplacement(replacement: string): string
}

type Replacement = { pattern: Pattern; replacement: string; meter: Meter }

/** Replaces matches as long as steps are left: `.*x|a` reads the rest of the title for each match. */
function replaceAll({ pattern, replacement, meter }: Replacement, text: string): string {
  const matcher = pattern.matcher(text) as unknown as ReplacingMatcher
  const parts: string[] = []
  let end = 0
  try {
    for (let rest = text.length; ; rest = text.length - end) {
      const needed = searchSteps(pattern, rest + 1)
      if (needed > meter.left()) break
      meter.charge(needed)
      if (!matcher.find()) break
      const part = matcher.appendReplacement(replacement)
      parts.push(part)
      end = matcher.end()
    }
  } catch {
    // The replacement refers to a group that does not exist.
    return text
  }
  return (parts.join('') + text.slice(end)).slice(0, maxTitleLength)
}
