// Image types that a client accepts, according to its `Accept` header.

const wildcards = new Set(['*/*', 'image/*', '*'])

/** The listed media types without parameters, and without excluded ones (`q=0`). */
export function acceptedTypes(accept: string): Set<string> {
  const entries = accept.split(',').map(entry => entry.trim().toLowerCase())
  return new Set(
    entries
      .filter(entry => !/;\s*q=0(?:\.0*)?\s*$/.test(entry))
      .map(entry => entry.split(';', 1)[0]!.trim()),
  )
}

/** Whether any image may be sent: there is no header, or it has a wildcard. */
export function acceptsAnyImage(accept: string | undefined): boolean {
  if (!accept) return true
  return !acceptedTypes(accept).isDisjointFrom(wildcards)
}

/** The format to convert an image of that type to; null if it is accepted unchanged. */
export function acceptedFormat(
  accept: string | undefined,
  mediaType: string,
): 'jpeg' | 'png' | null {
  const types = acceptedTypes(accept ?? '')
  if (types.has(mediaType)) return null
  return types.has('image/png') && !types.has('image/jpeg') ? 'png' : 'jpeg'
}
