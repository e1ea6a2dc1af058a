// Schemas of source administration.
import {
  body,
  component,
  json,
  list,
  maybe,
  name,
  nullable,
  oneOf,
  patchBody,
  record,
  Type,
  text,
  timestamp,
} from '../../base/schema.ts'
import { sourceTypes } from '../open.ts'
import { SourcePreset } from '../presets/presets.ts'
import { HealthState, Source } from '../stored/source.ts'

const displayName = maybe(name(200))
const config = maybe(
  Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    description:
      'Settings, which depend on the type: see GET /admin/source-types. Secrets belong in `credentials`.',
  }),
)
const enabled = maybe(Type.Boolean({ description: 'Disabled sources are never called.' }))
const credential = text(4000)

const values = {
  name: Type.String({
    pattern: '^[a-z0-9][a-z0-9._-]{0,62}$',
    description:
      'Name of the source in external ids, which cannot be changed. Plugin names get the prefix `plugin:`.',
  }),
  displayName,
  config,
  credentials: maybe(
    Type.Unsafe<Record<string, string>>({
      type: 'object',
      maxProperties: 50,
      additionalProperties: credential,
      description: 'Request headers, or values for a plugin. They are stored and never returned.',
    }),
  ),
  enabled,
}

export const NewSource = body('NewSource', { type: oneOf(sourceTypes), ...values })
export const NewPlugin = body('NewPlugin', values)

const changed = {
  displayName,
  config,
  credentials: maybe(
    Type.Unsafe<Record<string, string | null>>({
      type: 'object',
      maxProperties: 50,
      additionalProperties: nullable(credential),
      description: 'Null removes a credential; absent ones are unchanged.',
    }),
  ),
  enabled,
}

export const SourceUpdate = patchBody('SourceUpdate', changed, Source)

export const SourceList = component('SourceList', { sources: list(Source) })
export const PluginList = component('PluginList', { plugins: list(Source) })

export const SourceTest = component('SourceTest', {
  success: Type.Boolean(),
  message: Type.String(),
  latencyMs: Type.Integer(),
  manifest: json({ description: "The source's description; null after a failure." }),
})

export const SourceHealth = component('SourceHealth', {
  status: HealthState,
  failures: Type.Integer(),
  lastError: nullable(Type.String()),
  lastErrorAt: nullable(timestamp()),
  retryAt: nullable(timestamp()),
})

export const SourceTypes = component('SourceTypes', {
  types: list(
    record({
      type: oneOf(sourceTypes),
      config: json({ description: 'JSON Schema of the settings.' }),
    }),
  ),
  presets: list(SourcePreset, { description: 'Possible values of `config.preset`.' }),
  plugins: list(Type.String(), { description: 'Possible values of `config.plugin`.' }),
})
