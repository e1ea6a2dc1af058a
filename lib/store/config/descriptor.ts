// Descriptor of a configuration key: type, default, bounds, scope, description. Built by `keys(scope)`.
import type { TSchema } from 'typebox'
import { Check } from 'typebox/schema'
import { Invalid } from '../../base/errors.ts'
import { Type } from '../../base/schema-type.ts'

export type Scalar = string | number | boolean | null

/**
 * When a change takes effect: `boot` after a restart, `reload` on SIGHUP, `runtime` at once. Boot and reload
 * keys come from file, environment and flags; runtime keys live in the database.
 */
export type Scope = 'boot' | 'reload' | 'runtime'

export type Key<V extends Scalar = Scalar, S extends Scope = Scope> = {
  readonly scope: S
  readonly schema: TSchema
  readonly kind: 'string' | 'integer' | 'number' | 'boolean'
  readonly default: V
  readonly description: string
  /** Bounds of a number; a string's `maximum` is its length in characters. */
  readonly minimum: number | null
  readonly maximum: number | null
  /** Valid values in words, to complete "must be …". */
  readonly expected: string
  /** Masked wherever it is printed. */
  readonly isSecret: boolean
  /** Short names of environment variables, besides the one derived from the key. */
  readonly variables: readonly string[]
  /** An additional check of a string: the problem in words, or null. */
  readonly findProblem: (value: string) => string | null
}

type Notes = {
  secret?: true
  variables?: string[]
  pattern?: string
  maxLength?: number
  /** Replaces the generated `expected`. */
  expected?: string
  check?: (value: string) => string | null
}
type Bounds = readonly [minimum: number, maximum: number]

/** Builders for keys of one scope. */
export function keys<S extends Scope>(scope: S) {
  const text = (value: string, description: string, notes: Notes = {}): Key<string, S> => ({
    ...stringKey(scope, notes),
    default: value,
    description,
  })
  const bounded =
    (kind: 'integer' | 'number', noun: string) =>
    (value: number, [minimum, maximum]: Bounds, description: string): Key<number, S> => ({
      ...common(scope),
      schema: Type[kind === 'integer' ? 'Integer' : 'Number']({ minimum, maximum }),
      kind,
      default: value,
      description,
      minimum,
      maximum,
      expected: `${noun} from ${minimum} to ${maximum}`,
    })
  return {
    /** May only be empty in runtime scope. */
    text,
    /** Null by default. */
    optionalText: (description: string, notes: Notes = {}): Key<string | null, S> => {
      const key = stringKey(scope, notes)
      return { ...key, schema: Type.Union([key.schema, Type.Null()]), default: null, description }
    },
    integer: bounded('integer', 'an integer'),
    number: bounded('number', 'a number'),
    boolean: (value: boolean, description: string): Key<boolean, S> => ({
      ...common(scope),
      schema: Type.Boolean(),
      kind: 'boolean',
      default: value,
      description,
      expected: 'true or false',
    }),
    choice: <const T extends string>(
      values: readonly T[],
      value: NoInfer<T>,
      description: string,
    ) =>
      ({
        ...common(scope),
        schema: Type.Enum([...values]),
        kind: 'string',
        default: value,
        description,
        expected: `one of ${values.join(', ')}`,
      }) satisfies Key<T, S> as Key<T, S>,
  }
}

const common = <S extends Scope>(scope: S) => ({
  scope,
  minimum: null,
  maximum: null,
  isSecret: false,
  variables: [],
  findProblem: () => null,
})

function stringKey<S extends Scope>(scope: S, notes: Notes) {
  const { secret, variables = [], pattern, maxLength, expected, check } = notes
  const minLength = scope === 'runtime' ? 0 : 1
  return {
    ...common(scope),
    schema: Type.String({
      minLength,
      ...(pattern && { pattern }),
      ...(maxLength && { maxLength }),
    }),
    kind: 'string' as const,
    maximum: maxLength ?? null,
    expected: expected ?? describeText(minLength, maxLength),
    isSecret: secret === true,
    variables,
    findProblem: check ?? (() => null),
  }
}

function describeText(minLength: number, maxLength: number | undefined): string {
  const text = minLength > 0 ? 'a non-empty string' : 'a string'
  return maxLength === undefined ? text : `${text} of at most ${maxLength} characters`
}

/** Returns the value if it is valid. Throws Invalid: "`label` must be …". */
export function checkValue<V extends Scalar>(key: Key<V>, value: unknown, label: string): V {
  if (!Check(key.schema, value))
    throw new Invalid(`${label} must be ${key.expected}${quoteValue(key, value)}`)
  const problem = typeof value === 'string' ? key.findProblem(value) : null
  if (problem !== null) throw new Invalid(`${label} is not valid: ${problem}`)
  return value as V
}

/** Converts text to the key's type if possible; otherwise returns it unchanged. */
export function parseText({ kind }: Key, text: string): Scalar {
  if (kind === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text)
  if (kind === 'number' && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text)) return Number(text)
  if (kind === 'boolean' && /^(true|false)$/.test(text)) return text === 'true'
  return text
}

function quoteValue({ isSecret }: Key, value: unknown): string {
  if (isSecret) return ''
  return `, not ${JSON.stringify(value)?.slice(0, 80) ?? 'empty'}`
}
