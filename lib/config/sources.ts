// The three places a value can be said beside its default: the file, the environment, the flags.
import { readFileSync } from 'node:fs'
import { parse, YAMLParseError } from 'yaml'
import { Invalid } from '../errors.ts'
import { type ConfigPath, type Leaf, leaves } from './schema.ts'
import { suggest } from './suggest.ts'

/** A value as found. `origin` is shown to the user: a file's name, a variable's, a flag's. */
export type Said = { leaf: Leaf; value: unknown; origin: string }

const prefix = 'STACKROOM_'
/** Names the file when no flag does; not a key itself. */
export const fileVariable = 'STACKROOM_CONFIG'

/** Reads YAML. Throws Invalid naming the key, or the line when it is no YAML. */
export function fromFile(path: string): Said[] {
  const said: Said[] = []
  const visit = (node: unknown, at: string) => {
    const leaf = leaves.get(at)
    if (leaf) {
      said.push({ leaf, value: node, origin: path })
      return
    }
    const inside = [...leaves.keys()].filter(key => at === '' || key.startsWith(`${at}.`))
    if (inside.length === 0) {
      throw new Invalid(`${path}: unknown key ${at}${suggestKey(at)}`)
    }
    if (node === null || node === undefined) return
    if (typeof node !== 'object' || Array.isArray(node)) {
      throw new Invalid(`${path}: ${at || 'the file'} must hold keys, e.g. ${inside[0]}`)
    }
    for (const [key, child] of Object.entries(node)) visit(child, at ? `${at}.${key}` : key)
  }
  visit(parseFile(path), '')
  return said
}

/** Reads STACKROOM_* variables; an empty one counts as not set. Throws Invalid for an unknown name. */
export function fromEnvironment(env: NodeJS.ProcessEnv): Said[] {
  const known = new Map<string, { leaf: Leaf; isFile: boolean }>()
  for (const leaf of leaves.values()) {
    for (const name of leaf.names) {
      known.set(name, { leaf, isFile: false })
      if (leaf.isSecret) known.set(`${name}_FILE`, { leaf, isFile: true })
    }
  }
  const said = new Map<string, Said>()
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith(prefix) || name === fileVariable) continue
    const found = known.get(name)
    if (!found) {
      throw new Invalid(`Unknown environment variable ${name}${suggest(name, known.keys())}`)
    }
    if (!value) continue
    const { leaf, isFile } = found
    const text = isFile ? readText(value, name).trimEnd() : value
    const before = said.get(leaf.path)
    if (before && before.value !== text) {
      throw new Invalid(`${before.origin} and ${name} contradict each other`)
    }
    said.set(leaf.path, { leaf, value: text, origin: name })
  }
  return [...said.values()].map(one => ({ ...one, value: fromText(one.leaf, one.value) }))
}

/** Flags by path; undefined ones were not given. */
export function fromFlags(flags: Partial<Record<ConfigPath, unknown>>): Said[] {
  return Object.entries(flags).flatMap(([path, value]) => {
    const leaf = leaves.get(path)
    if (!leaf || value === undefined) return []
    return [{ leaf, value: fromText(leaf, value), origin: 'command line' }]
  })
}

// Variables and flags are text; the file has types of its own and is taken at its word.
function fromText(leaf: Leaf, value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (leaf.kind === 'integer' && /^-?\d{1,15}$/.test(value.trim())) return Number(value)
  if (leaf.kind === 'boolean' && /^(true|1|yes|on)$/i.test(value.trim())) return true
  if (leaf.kind === 'boolean' && /^(false|0|no|off)$/i.test(value.trim())) return false
  return value
}

function parseFile(path: string): unknown {
  const text = readText(path, 'the configuration file')
  try {
    return parse(text, { logLevel: 'error' })
  } catch (cause) {
    // Only the first line of the message: the rest quotes the file, perhaps a password in it.
    const what = cause instanceof Error ? cause.message.split('\n')[0] : 'not YAML'
    const line = cause instanceof YAMLParseError ? cause.linePos?.[0].line : undefined
    throw new Invalid(`${path}${line ? `:${line}` : ''}: ${what?.replace(/:$/, '')}`)
  }
}

function readText(path: string, what: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'error'
    throw new Invalid(`${path}, ${what}, cannot be read (${code})`, { cause })
  }
}

// A key in the wrong section is as common as a misspelt one.
function suggestKey(wrong: string): string {
  const last = wrong.split('.').at(-1) ?? ''
  const moved = [...leaves.keys()].find(path => path.split('.').at(-1) === last)
  if (moved) return `; did you mean ${moved}?`
  const sections = [...leaves.keys()].map(path => path.split('.')[0] ?? '')
  return suggest(wrong, [...leaves.keys(), ...sections])
}
