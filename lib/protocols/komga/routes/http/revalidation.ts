// Caching of images in the compatible API: clients revalidate them.

export const cacheControl = 'max-age=0, must-revalidate, private'

type Response = { headers: Record<string, string> }

/** Adds headers that make clients revalidate the response; `lastModified` is an HTTP date. */
export function revalidated<T extends Response>(response: T, lastModified?: string): T {
  Object.assign(response.headers, {
    'cache-control': cacheControl,
    ...(lastModified === undefined ? {} : { 'last-modified': lastModified }),
  })
  return response
}
