// Credentials of sources as request headers, and URLs without them.
import { Invalid } from '../../base/errors.ts'

const nameFormat = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/
const valueFormat = /^[\t\x20-\x7e\x80-\xff]{0,4000}$/
/** Headers of the connection, or decided by the client. */
const reserved =
  /^(?:host|connection|content-length|transfer-encoding|te|upgrade|trailer|expect|keep-alive|proxy-.*|accept-encoding|if-.*|range)$/i

/** Throws Invalid that names the header, but not its value. */
export function checkHeaders(credentials: Record<string, string>): void {
  for (const [name, value] of Object.entries(credentials)) {
    if (!nameFormat.test(name) || reserved.test(name))
      throw new Invalid(`credentials.${name.slice(0, 100)} is a header that cannot be set`)
    if (!valueFormat.test(value))
      throw new Invalid(`credentials.${name} is not a valid header value`)
  }
}

/** Settings are returned to administrators, so a password in a URL would not be secret. Throws Invalid. */
export function checkUrl(text: string, label: string): void {
  const url = URL.parse(text)
  if (url === null) throw new Invalid(`${label} is not a URL`)
  if (url.username !== '' || url.password !== '')
    throw new Invalid(`${label} has a user name or password; use credentials.Authorization`)
}
