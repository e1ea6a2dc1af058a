// Whether a source responds.
import { api, body, type Schemas } from '../api/client.ts'

/** Calls the source once. */
export const testSource = (id: string): Promise<Schemas['SourceTest']> =>
  body(api.POST('/api/v1/admin/sources/{id}/test', { params: { path: { id } } }))
