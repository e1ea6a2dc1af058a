// Saved filters of the account, shared by the navigation and the filter dialogs.
import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { api, type Schemas } from '../../api/client.ts'
import { useGet } from '../../api/resource.ts'
import { can } from '../../api/session.ts'

export type Preset = Schemas['FilterPreset']
type NewPreset = Schemas['NewFilterPreset']

/** No event of the server is about them. */
const changes = signal(0)

/** By name; undefined until they are loaded. */
export function usePresets(): readonly Preset[] | undefined {
  const path = can('ProgressRead') ? '/api/v1/filter-presets' : null
  const { data, reload } = useGet(path, { query: { scope: 'list' } })
  const seen = useRef(changes.value)
  useEffect(() => {
    if (seen.current !== changes.value) reload()
    seen.current = changes.value
  }, [changes.value])
  return data?.presets
}

export async function savePreset(preset: Omit<NewPreset, 'scope'>): Promise<void> {
  await api.POST('/api/v1/filter-presets', { body: { ...preset, scope: 'list' } })
  changes.value++
}

export async function deletePreset({ id }: Preset): Promise<void> {
  await api.DELETE('/api/v1/filter-presets/{id}', { params: { path: { id } } })
  changes.value++
}

/** The list with the filters. */
export function pathOfPreset({ target, condition, query, sort, libraryId }: Preset): string {
  const isOfLibrary = libraryId !== null && target === 'series'
  const parameters = new URLSearchParams({
    ...(condition ? { condition: JSON.stringify(condition) } : {}),
    ...(query && { q: query }),
    ...(sort && { sort }),
    ...(libraryId !== null && !isOfLibrary && { library: libraryId }),
  })
  return `${isOfLibrary ? `libraries/${libraryId}` : target}?${parameters}`
}
