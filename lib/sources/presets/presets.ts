// Presets: services that are known well enough to be set up by a click. Each is a data file with the mapping of its API.
import { Invalid } from '../../base/errors.ts'
import { component, list, oneOf, type Static, strict, Type } from '../../base/schema.ts'
import { type HttpConfig, http } from '../mapping/http.ts'
import type { SourceRow, SourceType } from '../source-type.ts'
import anilist from './anilist.json' with { type: 'json' }
import comicVine from './comic-vine.json' with { type: 'json' }
import googleBooks from './google-books.json' with { type: 'json' }
import mangabaka from './mangabaka.json' with { type: 'json' }
import mangadex from './mangadex.json' with { type: 'json' }
import mangaupdates from './mangaupdates.json' with { type: 'json' }
import metron from './metron.json' with { type: 'json' }
import openLibrary from './open-library.json' with { type: 'json' }

/** What the preset is for. */
const kinds = ['comics', 'manga', 'books'] as const

export const SourcePreset = component('SourcePreset', {
  name: Type.String({ description: 'Value of `config.preset`; also a good name for the source.' }),
  displayName: Type.String(),
  kind: oneOf(kinds),
  languages: list(Type.String(), { description: 'BCP 47.' }),
  homepage: Type.String(),
  attribution: Type.String({ description: 'To be shown with the data, as the service wants.' }),
  credentials: list(
    strict({
      name: Type.String({ description: 'Name in `credentials`.' }),
      label: Type.String(),
      isRequired: Type.Boolean(),
    }),
  ),
})
export type SourcePreset = Static<typeof SourcePreset>

type PresetFile = SourcePreset & { config: HttpConfig }

export const presetFiles = [
  anilist,
  comicVine,
  googleBooks,
  mangabaka,
  mangadex,
  mangaupdates,
  metron,
  openLibrary,
] as PresetFile[]
const byName = new Map(presetFiles.map(file => [file.name, file]))

/** By display name. */
export const presets: readonly SourcePreset[] = presetFiles.map(
  ({ config: _, ...preset }) => preset,
)

const PresetConfig = strict({
  preset: oneOf(presetFiles.map(file => file.name)),
})
type PresetConfig = Static<typeof PresetConfig>

const presetOf = ({ preset }: PresetConfig) => byName.get(preset)!

/** Whether a preset has metadata of series or books. */
export const presetHas = (config: object, kind: 'series' | 'book') => {
  const { search, bookSearch } = presetOf(config as PresetConfig).config
  return (kind === 'series' ? search : bookSearch) !== undefined
}

/** The same source with the mapping of its preset. */
const mapped = (row: SourceRow<PresetConfig>): SourceRow<HttpConfig> => ({
  ...row,
  config: presetOf(row.config).config,
})

export const preset: SourceType<PresetConfig> = {
  Config: PresetConfig,
  check({ config, credentials }, deps) {
    const file = presetOf(config)
    for (const name of Object.keys(credentials))
      if (!file.credentials.some(credential => credential.name === name))
        throw new Invalid(`credentials.${name.slice(0, 100)} is not a credential of this preset`)
    for (const { name, label, isRequired } of file.credentials)
      if (isRequired && !credentials[name])
        throw new Invalid(`credentials.${name} (${label}) is required`)
    http.check({ config: file.config, credentials }, deps)
  },
  releaseSources: row => http.releaseSources(mapped(row)),
  open: (row, deps) => http.open(mapped(row), deps),
}
