// Sessions of the web application as its sign-in form leaves them in a browser.
import type { BrowserContextOptions } from 'playwright-core'

type StorageState = Exclude<NonNullable<BrowserContextOptions['storageState']>, string>

export type Credentials = { username: string; password: string }

/** Signs in by the API; the result is the storage of a browser in which the application is signed in. */
export async function signIn(
  base: string,
  { username, password }: Credentials,
): Promise<StorageState> {
  const url = new URL(base)
  const response = await fetch(`${base}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  })
  if (!response.ok) throw new Error(`${username} cannot sign in: ${await response.text()}`)
  const { accessToken, refreshToken, expiresIn } = (await response.json()) as any
  const expiresAt = Date.now() + expiresIn * 1000
  const basePath = url.pathname.replace(/\/?$/, '/')
  return {
    cookies: response.headers.getSetCookie().map(text => cookieOf(text, url.hostname)),
    origins: [
      {
        origin: url.origin,
        localStorage: [
          {
            name: `stackroom.session:${basePath}`,
            value: JSON.stringify({ accessToken, refreshToken, expiresAt }),
          },
        ],
      },
    ],
  }
}

function cookieOf(text: string, domain: string) {
  const [pair, ...attributes] = text.split(/;\s*/)
  const [name, value] = pair!.split('=', 2)
  const path = attributes.find(attribute => /^path=/i.test(attribute))?.slice('path='.length)
  return {
    name: name!,
    value: value!,
    domain,
    path: path ?? '/',
    expires: -1,
    httpOnly: true,
    secure: false,
    sameSite: 'Lax' as const,
  }
}
