// The libraries of the server for the pages of the administration.
import { api, body, type Schemas } from '../api/client.ts'
import { type Resource, useResource } from '../api/resource.ts'

export type Library = Schemas['Library']

export function useLibraries(): Resource<Library[]> {
  return useResource('admin-libraries', async signal => {
    const query = { page: 1, pageSize: 500 }
    return (await body(api.GET('/api/v1/libraries', { params: { query }, signal }))).data
  })
}
