// Configuration loading: defaults, file, environment and flags become one read-only Config that only changes
// on reload. The only reader of process.env.
import { checkValue, type Scalar, type Scope } from './descriptor.ts'
import { type Config, type ConfigPath, configKeys } from './keys.ts'
import { collectProblems } from './problems.ts'
import { fileVariable, fromEnvironment, fromFile, fromFlags } from './sources.ts'

export type { Config } from './keys.ts'

type Sources = {
  /** A YAML file; defaults to the one that STACKROOM_CONFIG names, if any. */
  file?: string | undefined
  env?: NodeJS.ProcessEnv
  flags?: Partial<Record<ConfigPath, unknown>>
}

/** One key of a loaded configuration; secret values are masked. */
export type EffectiveValue = {
  path: ConfigPath
  value: Scalar
  origin: string
  description: string
  scope: Scope
}

export const secretMask = '********'
type Values = Map<ConfigPath, { value: Scalar; origin: string }>
const loadedConfigs = new WeakMap<Config, { sources: Sources; values: Values }>()

/** Later sources override earlier ones: defaults, file, environment, flags. Throws Invalid. */
export function loadConfig(sources: Sources = {}): Config {
  const values = readSources(sources)
  const config = toConfig(values)
  loadedConfigs.set(config, { sources, values })
  return config
}

export type ReloadResult = {
  /** Keys whose new values are in effect, wherever the configuration is held. */
  changed: ConfigPath[]
  /** Keys whose new values take effect after a restart. */
  restartRequired: ConfigPath[]
}

/** Reads file and environment again. Throws Invalid like loadConfig, without changing anything. */
export function reloadConfig(config: Config): ReloadResult {
  const { sources, values } = loadedConfigs.get(config)!
  const newValues = readSources(sources)
  const different = [...configKeys.keys()].filter(
    path => newValues.get(path)!.value !== values.get(path)!.value,
  )
  const isReloadable = (path: ConfigPath) => configKeys.get(path)!.scope === 'reload'
  const changed = different.filter(isReloadable)
  for (const path of changed) values.set(path, newValues.get(path)!)
  return { changed, restartRequired: different.filter(path => !isReloadable(path)) }
}

/** Every key with its value and origin, in catalog order. */
export function effectiveConfig(config: Config): EffectiveValue[] {
  const { values } = loadedConfigs.get(config)!
  return [...configKeys].map(([path, { isSecret, description, scope }]) => {
    const { value, origin } = values.get(path)!
    const masked = isSecret && value !== null ? secretMask : value
    return { path, value: masked, origin, description, scope }
  })
}

function readSources({ file, env = process.env, flags = {} }: Sources): Values {
  const configFile = file ?? env[fileVariable]
  const problems = collectProblems()
  const overrides = [
    ...(configFile ? fromFile(configFile, problems) : []),
    ...fromEnvironment(env, problems),
    ...fromFlags(flags),
  ]
  const values: Values = new Map()
  for (const [path, key] of configKeys) values.set(path, { value: key.default, origin: 'default' })
  for (const { path, key, value, origin } of overrides)
    problems.attempt(() => {
      values.set(path, { value: checkValue(key, value, `${path} (${origin})`), origin })
    })
  problems.throwIfAny()
  return values
}

/** An object of getters, so that a reload is visible to everyone who holds it or one of its sections. */
function toConfig(values: Values): Config {
  const root: Record<string, object> = {}
  for (const path of values.keys()) {
    const [section, name] = path.split('.') as [string, string?]
    const target = name === undefined ? root : (root[section] ??= {})
    const get = () => values.get(path)!.value
    Object.defineProperty(target, name ?? section, { get, enumerable: true })
  }
  for (const section of Object.values(root)) Object.freeze(section)
  return Object.freeze(root) as unknown as Config
}
