// Checks the configuration of a strategy against its schema.
import type { TObject } from 'typebox'
import Value from 'typebox/value'
import { Invalid } from '../errors.ts'

export type Config = Record<string, unknown>

/**
 * `input` with defaults filled in and one spelling of keys (camelCase; snake_case is understood).
 * Throws Invalid naming the key that is wrong or unknown.
 */
export function readConfig(schema: TObject, input: unknown): Config {
  if (
    input !== null &&
    input !== undefined &&
    (typeof input !== 'object' || Array.isArray(input))
  ) {
    throw new Invalid('The configuration of a strategy must be an object')
  }
  const config: Config = {}
  for (const [key, value] of Object.entries(input ?? {})) {
    const name = camelCase(key)
    if (!Object.hasOwn(schema.properties, name)) {
      const known = Object.keys(schema.properties).join(', ') || 'none'
      throw new Invalid(`The strategy has no setting ${key}; it has: ${known}`)
    }
    if (value !== null && value !== undefined) config[name] = value
  }
  const full = Value.Default(schema, config) as Config
  const [wrong] = Value.Errors(schema, full)
  if (wrong) throw new Invalid(`${wrong.instancePath.slice(1) || 'Configuration'} ${wrong.message}`)
  return full
}

function camelCase(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
