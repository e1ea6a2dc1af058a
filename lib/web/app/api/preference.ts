// Settings of the application that belong to the account, not to the browser: preferences of the API.
import { api } from './client.ts'
import { useGet } from './resource.ts'
import { can } from './session.ts'

type Preference = {
  /** Undefined if there is none, and while it is loaded. */
  value: unknown
  isLoading: boolean
  /** Null removes it. Throws ApiError. */
  save: (value: object | null) => Promise<void>
}

/** Whether the account may read what it stores. */
export const hasPreferences = () => can('ProgressRead')

export function usePreference(key: string): Preference {
  // All of them: a single one that is not set would be an error.
  const all = useGet(hasPreferences() ? '/api/v1/user/preferences' : null)
  const stored = all.data?.preferences.find(preference => preference.key === key)
  const params = { path: { key } }
  return {
    value: stored?.value,
    isLoading: all.isLoading,
    async save(value) {
      if (value === null) await api.DELETE('/api/v1/user/preferences/{key}', { params })
      else await api.PUT('/api/v1/user/preferences/{key}', { params, body: { value } })
      all.reload()
    },
  }
}
