// Runtime settings of the configuration catalog: lookup, validation and wire format.
import { hash } from 'node:crypto'
import { NotFound } from '../../base/errors.ts'
import { secretMask } from '../config/config.ts'
import { checkValue, type Key, parseText } from '../config/descriptor.ts'
import { allKeys, type SettingKey, sectionOf, type ValueOf } from '../config/keys.ts'
import { catalog } from '../config/schema.ts'
import { sections } from '../config/sections.ts'

export type { SettingKey } from '../config/keys.ts'
export type SettingValue<K extends SettingKey = SettingKey> = ValueOf<K>

export const settingKeys = [...allKeys.keys()].filter(isSettingKey)

export function isSettingKey(key: string): key is SettingKey {
  return allKeys.get(key)?.scope === 'runtime'
}

/** Returns the key if it belongs to a setting. Throws NotFound. */
export function requireSettingKey(key: string): SettingKey {
  if (isSettingKey(key)) return key
  throw new NotFound('Setting not found')
}

const valueTypes = {
  boolean: 'Boolean',
  integer: 'Integer',
  number: 'Float',
  string: 'String',
} as const

/** A setting in API form. */
export function settingDefinition(key: SettingKey) {
  const definition: Key = catalog[key]
  return {
    valueType: valueTypes[definition.kind],
    category: sections[sectionOf(key)]!,
    description: definition.description,
    isSensitive: definition.isSecret,
    defaultValue: String(definition.default),
    minValue: definition.minimum,
    maxValue: definition.maximum,
  }
}

export function settingDefault<K extends SettingKey>(key: K): SettingValue<K> {
  return catalog[key].default
}

/** The value in a request: JSON of the setting's type, or text. Throws Invalid. */
export function parseSetting(key: SettingKey, value: unknown): SettingValue {
  const definition: Key<SettingValue> = catalog[key]
  const parsed = typeof value === 'string' ? parseText(definition, value) : value
  return checkValue(definition, parsed, key)
}

/** A stored value as text. */
export function settingText(key: SettingKey, value: unknown): string {
  const { isSecret }: Key = catalog[key]
  return isSecret ? secretMask : String(value)
}

/** A stable id derived from the key: settings have none, but clients of similar servers expect one. */
export function settingId(key: string): string {
  const hex = hash('sha256', `stackroom setting ${key}`, 'hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
