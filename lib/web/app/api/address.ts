// Addresses of the API for this server, which may be below a path of a reverse proxy.

/** Path of the server without a trailing slash: empty, or `/books`. */
export const basePath = new URL(document.baseURI).pathname.replace(/\/$/, '')

/** The address of a path below /api/v1, such as `/auth/me`. */
export const apiUrl = (path: string): string => `${basePath}/api/v1${path}`
