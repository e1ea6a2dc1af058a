// Validates strategy configurations against their schemas.
import type { TObject } from 'typebox'
import { Errors } from 'typebox/schema'
import { Invalid } from '../../base/errors.ts'
import { withDefaults } from '../../base/schema-type.ts'

export type Config = Record<string, unknown>

/**
 * Returns `input` with defaults and keys in camelCase (snake_case is accepted). Throws Invalid with the name
 * of the invalid or unknown key.
 */
export function validateConfig(schema: TObject, input: unknown): Config {
  if (
    input !== null &&
    input !== undefined &&
    (typeof input !== 'object' || Array.isArray(input))
  ) {
    throw new Invalid('A strategy configuration must be an object')
  }
  const config: Config = {}
  for (const [key, value] of Object.entries(input ?? {})) {
    const name = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    if (!Object.hasOwn(schema.properties, name)) {
      const known = Object.keys(schema.properties).join(', ') || 'none'
      throw new Invalid(`The strategy has no setting ${key}; supported: ${known}`)
    }
    if (value !== null && value !== undefined) config[name] = value
  }
  const full = withDefaults(schema, config) as Config
  const [, [error]] = Errors(schema, full)
  if (error) throw new Invalid(`${error.instancePath.slice(1) || 'Configuration'} ${error.message}`)
  return full
}
