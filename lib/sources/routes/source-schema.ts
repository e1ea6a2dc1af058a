// Schemas of source administration.

import {
  body,
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
import { HealthState, Source } from '../stored/source.ts'

const displayName = name(200)
const config = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description:
    'Settings, which depend on the type: see GET /admin/source-types. Secrets belong in `credentials`.',
})
const credential = text(4000)
const enabled = Type.Boolean({ description: 'Disabled sources are never called.' })

const values = {
  name: Type.String({
    pattern: '^[a-z0-9][a-z0-9._-]{0,62}$',
    description:
      'Name of the source in external ids, which cannot be changed. Plugin names get the prefix `plugin:`.',
  }),
  displayName: maybe(displayName),
  config: maybe(config),
  credentials: maybe(
    Type.Unsafe<Record<string, string>>({
      type: 'object',
      maxProperties: 50,
      additionalProperties: credential,
      description: 'Request headers, or values for a plugin. They are stored and never returned.',
    }),
  ),
  enabled: maybe(enabled),
}

export const NewSource = body({ type: oneOf(sourceTypes), ...values }, { component: 'NewSource' })
export const NewPlugin = body(values, { component: 'NewPlugin' })

const changed = {
  displayName: maybe(displayName),
  config: maybe(config),
  credentials: maybe(
    Type.Unsafe<Record<string, string | null>>({
      type: 'object',
      maxProperties: 50,
      additionalProperties: nullable(credential),
      description: 'Null removes a credential; absent ones are unchanged.',
    }),
  ),
  enabled: maybe(enabled),
}

export const SourceUpdate = patchBody(changed, Source, { component: 'SourceUpdate' })

export const SourceList = record({ sources: list(Source) }, { component: 'SourceList' })
export const PluginList = record({ plugins: list(Source) }, { component: 'PluginList' })

export const SourceTest = record(
  {
    success: Type.Boolean(),
    message: Type.String(),
    latencyMs: Type.Integer(),
    manifest: json({ description: "The source's description; null after a failure." }),
  },
  { component: 'SourceTest' },
)

export const SourceHealth = record(
  {
    status: HealthState,
    failures: Type.Integer(),
    lastError: nullable(Type.String()),
    lastErrorAt: nullable(timestamp()),
    retryAt: nullable(timestamp()),
  },
  { component: 'SourceHealth' },
)

export const SourceTypes = record(
  {
    types: list(
      record({
        type: oneOf(sourceTypes),
        config: json({ description: 'JSON Schema of the settings.' }),
      }),
    ),
    plugins: list(Type.String(), { description: 'Possible values of `config.plugin`.' }),
  },
  { component: 'SourceTypes' },
)
