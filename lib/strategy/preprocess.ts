// Rules that clean the titles of new series: each replaces all its matches, one after the other.
import Type, { type Static } from 'typebox'
import Value from 'typebox/value'
import { Invalid } from '../errors.ts'
import { compilePattern, type Pattern, tryPattern } from './pattern.ts'

export const titleRule = Type.Object({
  pattern: Type.String({ minLength: 1, maxLength: 1_000 }),
  /** `$1` and `$2` stand for groups. */
  replacement: Type.String({ maxLength: 1_000 }),
  description: Type.Optional(Type.Union([Type.String({ maxLength: 1_000 }), Type.Null()])),
  enabled: Type.Boolean({ default: true }),
})
export type TitleRule = Static<typeof titleRule>

const mostRules = 100
// `$0$0` doubles the title with each rule.
const longestTitle = 2_000

/** The rules to store. Throws Invalid naming the rule (from 0) that is wrong. */
export function validateRules(input: unknown): TitleRule[] {
  if (input === null || input === undefined) return []
  if (!Array.isArray(input)) throw new Invalid('Title rules must be a list')
  if (input.length > mostRules) throw new Invalid(`There are more than ${mostRules} title rules`)
  return input.map((rule, i) => {
    const full = Value.Default(titleRule, structuredClone(rule))
    const [wrong] = Value.Errors(titleRule, full)
    if (wrong)
      throw new Invalid(`Rule ${i}: ${wrong.instancePath.slice(1) || 'it'} ${wrong.message}`)
    const { pattern } = full as TitleRule
    compilePattern(pattern, `Rule ${i}: pattern`)
    return full as TitleRule
  })
}

/** Compiles rules once for many titles; rules that are off or invalid are passed over. Nothing is trimmed. */
export function compileRules(rules: readonly Partial<TitleRule>[]): (title: string) => string {
  const steps: { pattern: Pattern; replacement: string }[] = []
  for (const { pattern: source, replacement = '', enabled = true } of rules) {
    const pattern = enabled && source ? tryPattern(source) : null
    if (pattern) steps.push({ pattern, replacement })
  }
  return title =>
    steps.reduce((text, { pattern, replacement }) => replaceAll(pattern, replacement, text), title)
}

function replaceAll(pattern: Pattern, replacement: string, text: string): string {
  try {
    return pattern.matcher(text.slice(0, longestTitle)).replaceAll(replacement)
  } catch {
    // A replacement that names a group the pattern has not.
    return text
  }
}
