// Defaults, file, environment, flags → one Config that nobody can change but a reload. The only
// reader of process.env.
import Value from 'typebox/value'
import { Invalid } from '../errors.ts'
import { type Config, type ConfigPath, type Leaf, leaves, type Scalar } from './schema.ts'
import { fileVariable, fromEnvironment, fromFile, fromFlags, type Said } from './sources.ts'

export type { Config } from './schema.ts'

type Sources = {
  /** YAML; without it the file that STACKROOM_CONFIG names, if it names one. */
  file?: string | undefined
  env?: NodeJS.ProcessEnv
  flags?: Partial<Record<ConfigPath, unknown>>
}

/** One key of a loaded configuration; a secret's value is masked. */
export type Effective = {
  path: string
  value: Scalar
  origin: string
  description: string
  /** SIGHUP is enough to change it. */
  reloads: boolean
}

const mask = '********'
type Values = Map<string, { value: Scalar; origin: string }>
const loaded = new WeakMap<Config, { sources: Sources; values: Values }>()

/** Later sources win: defaults, file, environment, flags. Throws Invalid naming the key and what it must be. */
export function loadConfig(sources: Sources = {}): Config {
  const values = gather(sources)
  const config = nest(values) as Config
  loaded.set(config, { sources, values })
  return config
}

/** Keys by what became of them. */
export type Reloaded = {
  /** Hold now, wherever the configuration is held. */
  changed: ConfigPath[]
  /** Said differently now, but stay as they are until the process is started again. */
  waiting: ConfigPath[]
}

/** Reads file and environment again. Throws Invalid as loadConfig does; then nothing has changed. */
export function reloadConfig(config: Config): Reloaded {
  const { sources, values } = loaded.get(config)!
  const now = gather(sources)
  const moved = [...leaves.values()].filter(
    ({ path }) => now.get(path)!.value !== values.get(path)!.value,
  )
  const changed = moved.filter(leaf => leaf.reloads).map(leaf => leaf.path)
  for (const path of changed) values.set(path, now.get(path)!)
  return { changed, waiting: moved.filter(leaf => !leaf.reloads).map(leaf => leaf.path) }
}

/** Every key in the schema's order with its value and where it comes from. */
export function effectiveConfig(config: Config): Effective[] {
  const { values } = loaded.get(config)!
  return [...leaves.values()].map(({ path, isSecret, description, reloads }) => {
    const { value, origin } = values.get(path)!
    const shown = isSecret && value !== null ? mask : value
    return { path, value: shown, origin, description, reloads }
  })
}

function gather({ file, env = process.env, flags = {} }: Sources): Values {
  const path = file ?? env[fileVariable]
  const said = [...(path ? fromFile(path) : []), ...fromEnvironment(env), ...fromFlags(flags)]
  const values: Values = new Map()
  for (const leaf of leaves.values())
    values.set(leaf.path, { value: leaf.default, origin: 'default' })
  for (const one of said) values.set(one.leaf.path, { value: check(one), origin: one.origin })
  return values
}

function check({ leaf, value, origin }: Said): Scalar {
  if (Value.Check(leaf.schema, value)) return value as Scalar
  throw new Invalid(`${leaf.path} (${origin}) must be ${leaf.expected}${quote(leaf, value)}`)
}

function quote(leaf: Leaf, value: unknown): string {
  if (leaf.isSecret) return ''
  return `, not ${JSON.stringify(value)?.slice(0, 80) ?? 'empty'}`
}

/** Objects that show the values as they are when asked. */
function nest(values: Values): unknown {
  const root: Record<string, object> = {}
  for (const path of values.keys()) {
    const [section, key] = path.split('.') as [string, string?]
    const holder = key === undefined ? root : (root[section] ??= {})
    const get = () => values.get(path)!.value
    Object.defineProperty(holder, key ?? section, { get, enumerable: true })
  }
  for (const part of Object.values(root)) Object.freeze(part)
  return Object.freeze(root)
}
