// Configuration of a plugin source.
import { maybe, type Static, strict, Type } from '../../base/schema.ts'
import { entryPattern } from './folder.ts'

export const PluginConfig = strict({
  plugin: Type.String({
    pattern: entryPattern,
    description: 'Name of an entry in the folder plugins.dir.',
  }),
  settings: maybe(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      description: 'Passed to the plugin unchanged.',
    }),
  ),
  timeoutSeconds: maybe(
    Type.Integer({
      minimum: 1,
      maximum: 300,
      default: 60,
      description: 'Timeout of a call in seconds.',
    }),
  ),
  memoryMb: maybe(
    Type.Integer({
      minimum: 32,
      maximum: 4096,
      default: 512,
      description: 'Memory limit of all its processes together, in MiB; only on Linux.',
    }),
  ),
})
export type PluginConfig = Static<typeof PluginConfig>
