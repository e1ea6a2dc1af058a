// Session of the browser: tokens, the signed-in account, renewal before the tokens expire.
import { batch, computed, effect, signal } from '@preact/signals'
import { apiUrl } from './address.ts'
import { compareClocks } from './clock.ts'
import { ApiError, failureOf, noConnection } from './errors.ts'
import { preview, storePreview } from './preview.ts'
import { singleFlight } from './reachable.ts'
import type { components } from './schema.d.ts'
import { readStoredJson, writeStorage } from './storage.ts'

export type Permission = components['schemas']['Permission']
export type Account = components['schemas']['CurrentUser']

type Tokens = {
  accessToken: string
  refreshToken: string
  /** Milliseconds since the epoch. */
  expiresAt: number
}
type TokenFields = { accessToken: string; refreshToken: string; expiresIn: number }

const storageKey = `stackroom.session:${new URL(document.baseURI).pathname}`
// Images and event streams send the cookie, which expires with the token.
const renewBeforeMs = 120_000

const readStored = () => readStoredJson<Tokens>(storageKey)
const tokens = signal(readStored())
/** The signed-in account; null when signed out, and until its record is loaded. */
export const account = signal<Account | null>(null)
export const isSignedIn = computed(() => tokens.value !== null)
/** Whether the session expired while the application was used: requests wait until it is resumed. */
export const hasEnded = computed(() => tokens.value === null && account.value !== null)

/** Whether the account has a permission, such as `LibrariesWrite`. */
export const can = (permission: Permission): boolean =>
  account.value?.effectivePermissions.some(name => name === permission) ?? false

function store(next: Tokens | null) {
  tokens.value = next
  writeStorage(storageKey, next && JSON.stringify(next))
}

/** Uses the session another tab stored. If the account differs, the page is reloaded and sends nothing in its name. */
function adopt(stored: Tokens | null) {
  const id = tokens.value ? accountIdOf(tokens.value) : account.value?.id
  if (stored && id !== undefined && accountIdOf(stored) !== id) {
    storePreview(null)
    location.reload()
  } else tokens.value = stored
}

/** The `sub` claim of the JSON web token. */
function accountIdOf({ accessToken }: Tokens): unknown {
  try {
    const claims = accessToken.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/')
    return JSON.parse(atob(claims)).sub
  } catch {
    return null
  }
}

/** Starts a session with the tokens of a response of sign-in, registration or setup. */
export async function startSession({ accessToken, refreshToken, expiresIn }: TokenFields) {
  storePreview(null)
  store({ accessToken, refreshToken, expiresAt: Date.now() + expiresIn * 1000 })
  await loadAccount()
}

/** Resumes an expired session; the page continues. Throws ApiError. */
export async function resumeSession(credentials: { username: string; password: string }) {
  const response = await post('/auth/login', { body: credentials })
  const { accessToken, refreshToken, expiresIn }: TokenFields = await response.json()
  const next = { accessToken, refreshToken, expiresAt: Date.now() + expiresIn * 1000 }
  const isSame = accountIdOf(next) === account.value?.id
  store(next)
  if (!isSame) location.reload()
}

/** Requests of an expired session wait for the next sign-in. */
async function untilResumed(): Promise<void> {
  if (!hasEnded.value) return
  await new Promise<void>(resolve => {
    const stop = hasEnded.subscribe(isEnded => {
      if (isEnded) return
      stop()
      resolve()
    })
  })
}

/** Throws ApiError. */
export async function loadAccount(): Promise<void> {
  const token = await accessToken()
  account.value = token === null ? null : await fetchAccount(token)
}

/** A refused token is renewed once; null when the session has ended. */
async function fetchAccount(token: string): Promise<Account | null> {
  const fetchWith = async (token: string): Promise<Account> => {
    const response = await send('/auth/me', { headers: { authorization: `Bearer ${token}` } })
    return await response.json()
  }
  try {
    return await fetchWith(token)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error
    const renewed = await renewRefused(token)
    if (renewed === token) throw error
    return renewed === null ? null : await fetchWith(renewed)
  }
}

/** Waits until the server has ended the last session: its response deletes the cookie, even a newer session's. */
let ending: Promise<unknown> = Promise.resolve()
export const untilSignedOut = () => ending

export async function signOut(): Promise<void> {
  // Leaving a preview ends no session.
  const token = await ownToken().catch(() => null)
  const refreshToken = tokens.value?.refreshToken
  endSession()
  if (token === null) return
  ending = endOnServer(token, refreshToken).catch(() => {})
  await ending
}

async function endOnServer(token: string, refreshToken: string | undefined): Promise<void> {
  // Browsers cancel the images of removed views in a later task; until then the server would refuse them.
  for (let task = 0; task < 2; task++) await new Promise(resolve => setTimeout(resolve))
  await post('/auth/logout', { token, body: { refreshToken } })
}

/** Forgets the session in this browser. */
export function endSession() {
  batch(() => {
    store(null)
    storePreview(null)
    account.value = null
  })
}

/** A valid access token, renewed if it expires soon; null when signed out. Throws ApiError without a connection. */
export async function accessToken(): Promise<string | null> {
  if (preview.value === null) return await ownToken()
  if (preview.value.expiresAt - Date.now() < renewBeforeMs) await renewPreview()
  return preview.value?.accessToken ?? (await ownToken())
}

async function ownToken(): Promise<string | null> {
  await untilResumed()
  const current = tokens.value
  if (current === null) return null
  if (current.expiresAt - Date.now() < renewBeforeMs) await renewOwn()
  return tokens.value?.accessToken ?? null
}

/** Renews a refused token, unless another request already did. */
export async function renewRefused(refused: string): Promise<string | null> {
  if (preview.value?.accessToken === refused) await renewPreview()
  else if (tokens.value?.accessToken === refused) await renewOwn()
  await untilResumed()
  return preview.value?.accessToken ?? tokens.value?.accessToken ?? null
}

const renewOwn = singleFlight(async () => {
  if (tokens.value) await renewAlone(tokens.value.accessToken)
})
const renewPreview = singleFlight(async () => {
  if (preview.value === null) return
  await startPreview(preview.value.accountId).catch(async error => {
    if (!(error instanceof ApiError) || ![401, 403, 404].includes(error.status)) throw error
    await endPreview()
  })
})

/** Shows the application as another account sees it. Throws ApiError. */
export async function startPreview(accountId: string): Promise<void> {
  const token = await ownToken()
  const response = await post(`/users/${accountId}/impersonation-tokens`, { token })
  const { accessToken, expiresIn, user } = await response.json()
  const expiresAt = Date.now() + expiresIn * 1000
  storePreview({ accountId, username: user.username, accessToken, expiresAt })
  await loadAccount()
}

export async function endPreview(): Promise<void> {
  storePreview(null)
  await loadAccount()
}

/** Tabs share the tokens, and a refresh token is valid once: one tab renews at a time where locks exist (HTTPS). */
async function renewAlone(known: string): Promise<void> {
  const renewOnce = async () => {
    const stored = readStored()
    if (stored === null || stored.accessToken !== known) adopt(stored)
    else await renew(stored)
  }
  if (navigator.locks) await navigator.locks.request(storageKey, renewOnce)
  else await renewOnce()
}

async function renew({ refreshToken }: Tokens): Promise<void> {
  try {
    const response = await post('/auth/refresh', { body: { refreshToken } })
    const fields: TokenFields = await response.json()
    store({ ...fields, expiresAt: Date.now() + fields.expiresIn * 1000 })
  } catch (error) {
    if (!(error instanceof ApiError) || ![400, 401].includes(error.status)) throw error
    // A page in use stays, with what was typed into it. Other tabs notice on their own.
    if (account.value && preview.value === null) tokens.value = null
    else endSession()
  }
}

type Post = { token?: string | null; body?: object }

const post = (path: string, { token, body }: Post) =>
  send(path, {
    method: 'POST',
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })

async function send(path: string, init: RequestInit): Promise<Response> {
  const response = await fetch(apiUrl(path), init).catch(() => {
    throw noConnection()
  })
  compareClocks(response)
  if (!response.ok) throw await failureOf(response)
  return response
}

/** Renews the tokens in time while the page is visible, and follows the other tabs. */
export function watchSession() {
  const follow = () => {
    const stored = readStored()
    if (stored === null) return endSession()
    adopt(stored)
    loadAccount().catch(() => {})
  }
  addEventListener('storage', event => {
    if (event.key === storageKey || event.key === null) follow()
  })
  // A page restored by going back may have missed changes in other tabs.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted && account.value) follow()
  })
  const renewInTime = () => {
    if (document.visibilityState === 'visible' && isSignedIn.value) accessToken().catch(() => {})
  }
  addEventListener('visibilitychange', renewInTime)
  setInterval(renewInTime, renewBeforeMs / 4)
}

const actions: (() => void)[] = []

/** Registers an action for when the account changes. */
export const onSignOut = (action: () => void) => void actions.push(action)

let previous: string | null = null
effect(() => {
  const id = account.value?.id ?? null
  if (id === previous) return
  previous = id
  for (const action of actions) action()
})
