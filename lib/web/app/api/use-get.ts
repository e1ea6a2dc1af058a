// Data of a view that is the response to GET, or all items of a list.
import { allItems } from './all-items.ts'
import { api, body } from './client.ts'
import { type Resource, useResource } from './resource.ts'
import type { paths } from './schema.d.ts'

type Readable = { responses: { 200: { content: { 'application/json': unknown } } } }
type GetPath = { [P in keyof paths]: paths[P] extends { get: Readable } ? P : never }[keyof paths]
type Get<P extends GetPath> = Extract<paths[P]['get'], Readable>
type Params<P extends GetPath> =
  Get<P> extends { parameters: infer T } ? Pick<T, keyof T & ('path' | 'query')> : never
type Data<P extends GetPath> = Get<P>['responses'][200]['content']['application/json']

/**
 * `useGet('/api/v1/users/{id}', { path: { id } })`: the response to GET, loaded again when the path or the parameters
 * change. A null path loads nothing.
 */
export function useGet<P extends GetPath>(path: P | null, params?: Params<P>): Resource<Data<P>> {
  const get = api.GET as (path: P, init: object) => Promise<{ data?: Data<P> }>
  return useResource(path && `${path} ${JSON.stringify(params ?? {})}`, signal =>
    body(get(path!, { params, signal })),
  )
}

type Item<P extends GetPath> = Data<P> extends { data: (infer T)[] } ? T : never
type Page<T> = { data: T[]; totalPages: number }

/** All items of a list, however many pages it has. */
export function useGetAll<P extends GetPath>(
  path: P | null,
  params?: Params<P>,
): Resource<Item<P>[]> {
  const get = api.GET as (path: P, init: object) => Promise<{ data?: Page<Item<P>> }>
  return useResource(path && `${path} of all pages ${JSON.stringify(params ?? {})}`, signal =>
    allItems(query => get(path!, { params: { ...params, query }, signal })),
  )
}
