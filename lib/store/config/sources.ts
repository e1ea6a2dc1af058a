// Sources of configuration values: YAML file, STACKROOM_* environment variables, command line flags.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Invalid } from '../../base/errors.ts'
import { type Key, parseText } from './descriptor.ts'
import { allKeys, type ConfigPath, configKeys } from './keys.ts'
import type { Problems } from './problems.ts'
import { didYouMean } from './suggest.ts'

/** An unchecked value. `origin` is shown to the user: a file or variable name, or "command line". */
export type SourceValue = { path: ConfigPath; key: Key; value: unknown; origin: string }

// Only loaded if there is a file.
const require = createRequire(import.meta.url)

const prefix = 'STACKROOM_'
/** The variable that names the file if no flag does; not a configuration key. */
export const fileVariable = 'STACKROOM_CONFIG'

/** The environment variables of a key; the first one is derived from its path. */
export function variablesOf(path: string, { variables }: Key): string[] {
  return [`${prefix}${path.replace('.', '__').toUpperCase()}`, ...variables]
}

/** Reads a YAML file. Problems name the key, or the line of a syntax error. */
export function fromFile(file: string, problems: Problems): SourceValue[] {
  const values: SourceValue[] = []
  const paths = [...allKeys.keys()]
  const visit = (node: unknown, path: string) => {
    const key = configKeys.get(path as ConfigPath)
    if (key) {
      values.push({ path: path as ConfigPath, key, value: node, origin: file })
      return
    }
    rejectRuntimeKey(path, file)
    const nested = paths.filter(key => path === '' || key.startsWith(`${path}.`))
    if (nested.length === 0) throw new Invalid(`${file}: unknown key ${path}${suggestKey(path)}`)
    if (node === null || node === undefined) return
    if (typeof node !== 'object' || Array.isArray(node))
      throw new Invalid(`${file}: ${path || 'the file'} must contain keys such as ${nested[0]}`)
    for (const [name, child] of Object.entries(node))
      problems.attempt(() => visit(child, path ? `${path}.${name}` : name))
  }
  problems.attempt(() => visit(parseFile(file), ''))
  return values
}

/** Reads STACKROOM_* variables; an empty one counts as unset. Unknown names are problems. */
export function fromEnvironment(env: NodeJS.ProcessEnv, problems: Problems): SourceValue[] {
  const variables = new Map<string, { path: ConfigPath; key: Key; isFile: boolean }>()
  for (const [path, key] of configKeys) {
    for (const name of variablesOf(path, key)) {
      variables.set(name, { path, key, isFile: false })
      if (key.isSecret) variables.set(`${name}_FILE`, { path, key, isFile: true })
    }
  }
  const values = new Map<ConfigPath, SourceValue & { value: string }>()
  const read = (name: string, content: string | undefined) => {
    const variable = variables.get(name)
    if (!variable) {
      rejectRuntimeKey(name.slice(prefix.length).toLowerCase().replace('__', '.'), name)
      throw new Invalid(`Unknown environment variable ${name}${didYouMean(name, variables.keys())}`)
    }
    if (!content) return
    const { path, key, isFile } = variable
    const value = isFile ? readText(content, name).trimEnd() : content
    const previous = values.get(path)
    if (previous && previous.value !== value)
      throw new Invalid(`${previous.origin} and ${name} contradict each other`)
    values.set(path, { path, key, value, origin: name })
  }
  for (const [name, content] of Object.entries(env))
    if (name.startsWith(prefix) && name !== fileVariable)
      problems.attempt(() => read(name, content))
  return [...values.values()].map(entry => ({ ...entry, value: fromText(entry.key, entry.value) }))
}

/** Flags by path; undefined ones are unset. */
export function fromFlags(flags: Partial<Record<ConfigPath, unknown>>): SourceValue[] {
  return Object.entries(flags).flatMap(([name, value]) => {
    const path = name as ConfigPath
    const key = configKeys.get(path)
    if (!key || value === undefined) return []
    const parsed = typeof value === 'string' ? fromText(key, value) : value
    return [{ path, key, value: parsed, origin: 'command line' }]
  })
}

// Variables and flags are text; values in a file are already typed and not converted.
function fromText(key: Key, text: string): unknown {
  if (key.kind === 'string') return text
  if (/^\s*(true|1|yes|on)\s*$/i.test(text) && key.kind === 'boolean') return true
  if (/^\s*(false|0|no|off)\s*$/i.test(text) && key.kind === 'boolean') return false
  const value = parseText(key, text.trim())
  return typeof value === 'string' ? text : value
}

function rejectRuntimeKey(path: string, origin: string): void {
  if (allKeys.get(path)?.scope === 'runtime')
    throw new Invalid(
      `${origin}: ${path} is a runtime setting; change it with PUT /api/v1/admin/settings/${path}`,
    )
}

function parseFile(file: string): unknown {
  const text = readText(file, 'the configuration file')
  const { parse, YAMLParseError } = require('yaml') as typeof import('yaml')
  try {
    return parse(text, { logLevel: 'error' })
  } catch (cause) {
    // Only the first line of the message: the rest quotes the file, possibly including a password.
    const message = cause instanceof Error ? cause.message.split('\n')[0] : 'not valid YAML'
    const line = cause instanceof YAMLParseError ? cause.linePos?.[0].line : undefined
    throw new Invalid(`${file}${line ? `:${line}` : ''}: ${message?.replace(/:$/, '')}`)
  }
}

function readText(file: string, purpose: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'error'
    throw new Invalid(`${file}, ${purpose}, cannot be read (${code})`, { cause })
  }
}

// A key in the wrong section is as common as a misspelled one.
function suggestKey(wrongPath: string): string {
  const paths = [...configKeys.keys()]
  const nameOf = (path: string) => path.split('.').at(-1)
  const moved = paths.find(path => nameOf(path) === nameOf(wrongPath))
  if (moved) return `; did you mean ${moved}?`
  return didYouMean(wrongPath, [...paths, ...paths.map(path => path.split('.')[0]!)])
}
