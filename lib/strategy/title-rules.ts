// Title rules: regular expression replacements for the titles of new series, applied in order.
import Type, { type Static } from 'typebox'
import Value from 'typebox/value'
import { Invalid } from '../errors.ts'
import { compilePattern, type Pattern, tryPattern } from './pattern.ts'

export const titleRule = Type.Object({
  pattern: Type.String({ minLength: 1, maxLength: 1_000 }),
  /** `$1` and `$2` refer to groups. */
  replacement: Type.String({ maxLength: 1_000 }),
  description: Type.Optional(Type.Union([Type.String({ maxLength: 1_000 }), Type.Null()])),
  enabled: Type.Boolean({ default: true }),
})
export type TitleRule = Static<typeof titleRule>

const maxRules = 100
// `$0$0` doubles the title with each rule.
const maxTitleLength = 2_000

/** Returns the rules to store. Throws Invalid with the index (from 0) of the invalid rule. */
export function validateRules(input: unknown): TitleRule[] {
  if (input === null || input === undefined) return []
  if (!Array.isArray(input)) throw new Invalid('Title rules must be a list')
  if (input.length > maxRules) throw new Invalid(`Too many title rules (maximum ${maxRules})`)
  return input.map((rule, i) => {
    const full = Value.Default(titleRule, structuredClone(rule))
    const [error] = Value.Errors(titleRule, full)
    if (error)
      throw new Invalid(`Rule ${i}: ${error.instancePath.slice(1) || 'value'} ${error.message}`)
    const { pattern } = full as TitleRule
    compilePattern(pattern, `Rule ${i}: pattern`)
    return full as TitleRule
  })
}

/** Compiles rules for many titles; disabled and invalid rules are ignored. Titles are not trimmed. */
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
    return pattern.matcher(text.slice(0, maxTitleLength)).replaceAll(replacement)
  } catch {
    // The replacement refers to a group that does not exist.
    return text
  }
}
