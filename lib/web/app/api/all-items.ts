// All items of a list of the API, however many pages it has.
import { body } from './client.ts'

type Page = { page: number; pageSize: number }
type PageResponse<T> = { data?: { data: T[]; totalPages: number } }

const pageSize = 500

/** `load` requests a page; its errors are passed on. */
export async function allItems<T>(load: (page: Page) => Promise<PageResponse<T>>): Promise<T[]> {
  const { data, totalPages } = await body(load({ page: 1, pageSize }))
  const others = Array.from({ length: totalPages - 1 }, (_, i) =>
    body(load({ page: i + 2, pageSize })),
  )
  return [...data, ...(await Promise.all(others)).flatMap(({ data }) => data)]
}
