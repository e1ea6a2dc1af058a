// Defaults, file, environment, flags → one frozen Config. The only reader of process.env.
import Value from 'typebox/value'
import { type Config, type ConfigPath, type Leaf, leaves, type Scalar } from './config/schema.ts'
import { fileVariable, fromEnvironment, fromFile, fromFlags, type Said } from './config/sources.ts'
import { Invalid } from './errors.ts'

export type { Config } from './config/schema.ts'

type Sources = {
  /** YAML; without it the file that STACKROOM_CONFIG names, if it names one. */
  file?: string | undefined
  env?: NodeJS.ProcessEnv
  flags?: Partial<Record<ConfigPath, unknown>>
}

/** One key of a loaded configuration; a secret's value is masked. */
export type Effective = { path: string; value: Scalar; origin: string; description: string }

const mask = '********'
const originsOf = new WeakMap<Config, Map<string, string>>()

/** Later sources win: defaults, file, environment, flags. Throws Invalid naming the key and what it must be. */
export function loadConfig({ file, env = process.env, flags = {} }: Sources = {}): Config {
  const path = file ?? env[fileVariable]
  const said = [...(path ? fromFile(path) : []), ...fromEnvironment(env), ...fromFlags(flags)]
  const values = new Map<string, Scalar>()
  const origins = new Map<string, string>()
  for (const leaf of leaves.values()) {
    values.set(leaf.path, leaf.default)
    origins.set(leaf.path, 'default')
  }
  for (const one of said) {
    values.set(one.leaf.path, check(one))
    origins.set(one.leaf.path, one.origin)
  }
  const config = nest(values) as Config
  originsOf.set(config, origins)
  return config
}

/** Every key in the schema's order with its value and where it comes from. */
export function effectiveConfig(config: Config): Effective[] {
  const origins = originsOf.get(config)
  return [...leaves.values()].map(({ path, isSecret, description }) => {
    const value = read(config, path)
    const shown = isSecret && value !== null ? mask : value
    return { path, value: shown, origin: origins?.get(path) ?? 'unknown', description }
  })
}

function check({ leaf, value, origin }: Said): Scalar {
  if (Value.Check(leaf.schema, value)) return value as Scalar
  throw new Invalid(`${leaf.path} (${origin}) must be ${leaf.expected}${quote(leaf, value)}`)
}

function quote(leaf: Leaf, value: unknown): string {
  if (leaf.isSecret) return ''
  return `, not ${JSON.stringify(value)?.slice(0, 80) ?? 'empty'}`
}

function read(config: Config, path: string): Scalar {
  return path.split('.').reduce<unknown>((node, key) => (node as never)[key], config) as Scalar
}

function nest(values: Map<string, Scalar>): unknown {
  const root: Record<string, unknown> = {}
  for (const [path, value] of values) {
    const [section, key] = path.split('.') as [string, string?]
    if (key === undefined) root[section] = value
    else root[section] = { ...(root[section] as object), [key]: value }
  }
  for (const part of Object.values(root)) Object.freeze(part)
  return Object.freeze(root)
}
