// Caching of images in the compatible API: clients ask whether they have changed.

export const cacheControl = 'max-age=0, must-revalidate, private'

type Response = { headers: Record<string, string> }

/** The response with headers that make clients revalidate it; `lastModified` as an HTTP date. */
export function revalidated<T extends Response>(response: T, lastModified?: string): T {
  Object.assign(response.headers, {
    'cache-control': cacheControl,
    ...(lastModified === undefined ? {} : { 'last-modified': lastModified }),
  })
  return response
}
