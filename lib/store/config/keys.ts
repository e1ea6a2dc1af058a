// Types and lookup tables derived from the catalog of configuration keys.
import type { Key, Scope } from './descriptor.ts'
import { catalog } from './schema.ts'

type Catalog = typeof catalog
type KeysOf<S extends Scope> = {
  [K in keyof Catalog]: Catalog[K]['scope'] extends S ? K : never
}[keyof Catalog]

/** The type of a key's value. */
export type ValueOf<K extends keyof Catalog> = Catalog[K]['default']
/** Dotted paths of keys set by file, environment and flags: `data_dir`, `database.url`. */
export type ConfigPath = KeysOf<'boot' | 'reload'>
/** Keys that administrators can change while the server runs. */
export type SettingKey = KeysOf<'runtime'>

type SectionOf<K> = K extends `${infer S}.${string}` ? S : never

/** The values of all boot and reload keys by section, including secrets. */
export type Config = {
  readonly [K in ConfigPath as K extends `${string}.${string}` ? never : K]: ValueOf<K>
} & {
  readonly [S in SectionOf<ConfigPath>]: {
    readonly [K in ConfigPath as K extends `${S}.${infer N}` ? N : never]: ValueOf<K>
  }
}

export const allKeys: ReadonlyMap<string, Key> = new Map(Object.entries(catalog))
/** The keys of `Config`. */
export const configKeys: ReadonlyMap<ConfigPath, Key> = new Map(
  Object.entries<Key>(catalog).filter(
    (entry): entry is [ConfigPath, Key] => entry[1].scope !== 'runtime',
  ),
)

/** `application` for `application.port`; a key without a section is its own section. */
export const sectionOf = (path: string): string => path.split('.')[0]!
