// The libraries that the account may see.
import type { Schemas } from './client.ts'
import type { Resource } from './resource.ts'
import { useGetAll } from './use-get.ts'

export type Library = Schemas['Library']

export const useLibraries = (isNeeded = true): Resource<Library[]> =>
  useGetAll(isNeeded ? '/api/v1/libraries' : null)

export type LibraryNames = ReadonlyMap<string, string>

/** Names by id; empty until they are loaded. */
export const useLibraryNames = (isNeeded: boolean): LibraryNames =>
  new Map(useLibraries(isNeeded).data?.map(({ id, name }) => [id, name]))
