// Setup: administrator, first library, and its running scan.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { assetUrl } from '../api/assets.ts'
import { api, body } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import { useGet, useLibraries } from '../api/resource.ts'
import { can, isSignedIn, startSession } from '../api/session.ts'
import { AddLibrary } from '../manage/add-library.tsx'
import { NewCovers } from '../manage/new-covers.tsx'
import { failureOf, isActive, type Scan, ScanStages, useScans } from '../manage/scan.tsx'
import { address, href, navigate } from '../routing/router.ts'
import { type TextKey, t } from '../text/translate.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { EmailField, NewPasswordField, Switch, TextField, useInput } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { useTitle } from '../ui/page-header.tsx'
import { ErrorState, NoPermission } from '../ui/state.tsx'

const stepTexts = {
  administrator: 'account.title',
  library: 'field.libraryId',
  scan: 'setup.step.scan',
} as const satisfies Record<string, TextKey>
const steps = Object.keys(stepTexts) as (keyof typeof stepTexts)[]
type Step = (typeof steps)[number]

export function View() {
  const { data, error, reload } = useGet('/api/v1/setup/status')
  const needsSignIn = data?.setupRequired === false && !isSignedIn.value
  useEffect(() => {
    if (needsSignIn) navigate('sign-in?from=setup', { replace: true })
  }, [needsSignIn])
  if (error && !data) return <ErrorState error={error} onRetry={reload} />
  if (!data || needsSignIn) return null
  if (data.setupRequired)
    return (
      <SetupPage step="administrator">
        <AdministratorForm onDone={reload} />
      </SetupPage>
    )
  return <LibrarySetup />
}

/** The step follows from the server's state, so that setup continues after a reload or on another device. */
function LibrarySetup() {
  const { query } = address.value
  const { data, error, reload } = useLibraries()
  if (error && !data) return <ErrorState error={error} onRetry={reload} />
  if (!data) return null
  const latest = [...data].sort((a, b) => b.createdAt.localeCompare(a.createdAt))[0]
  const id = query.get('library') ?? latest?.id
  if (id !== undefined && !query.has('add'))
    return (
      <SetupPage step="scan">
        <FirstScan key={id} libraryId={id} />
      </SetupPage>
    )
  if (!can('LibrariesWrite'))
    return <NoPermission action={<ButtonLink path="" text={t('nav.home')} />} />
  const added = ({ id }: { id: string }) => {
    reload()
    navigate(`setup?library=${id}`)
  }
  return (
    <SetupPage step="library">
      <header class="setup-header">
        <h1>{t('setup.library')}</h1>
        <p class="secondary-text">{t('setup.libraryText')}</p>
      </header>
      <AddLibrary onAdded={added} />
      <p class="setup-skip">
        <a href={href('')}>{t('setup.later')}</a>
      </p>
    </SetupPage>
  )
}

function SetupPage({ step, children }: { step: Step; children?: ComponentChildren }) {
  useTitle(t('setup.title'))
  const current = steps.indexOf(step)
  return (
    <main class={`setup-page ${step}`}>
      <div class="row setup-brand">
        <img src={brandIcon} alt="" width={40} height={40} />
        <span>Stackroom</span>
        <ol class="setup-steps" aria-label={t('setup.steps')}>
          {steps.map((name, i) => (
            <li
              key={name}
              class={i < current ? 'done' : undefined}
              aria-current={i === current ? 'step' : undefined}
            >
              {t(stepTexts[name])}
            </li>
          ))}
        </ol>
      </div>
      {children}
    </main>
  )
}

const brandIcon = assetUrl('icons/icon.svg')

/** From another machine the server requires its setup token. */
function AdministratorForm({ onDone }: { onDone: () => void }) {
  const username = useInput()
  const email = useInput()
  const password = useInput()
  const [isShown, setShown] = useState(false)
  const [token, setToken] = useState<string | null>(null)
  const [isRefused, setRefused] = useState(false)
  const create = async () => {
    const names = { username: username.value.trim(), email: email.value.trim() }
    const setupToken = (token ?? tokenInAddress())?.trim()
    try {
      const request = { ...names, password: password.value, ...(setupToken && { setupToken }) }
      await startSession(await body(api.POST('/api/v1/setup/initialize', { body: request })))
    } catch (error) {
      // Another device may have completed the setup.
      if (error instanceof ApiError && error.status === 409) return onDone()
      if (!(error instanceof ApiError) || error.status !== 403) throw error
      setRefused(Boolean(setupToken))
      setToken(setupToken ?? '')
      return
    }
    forgetTokenInAddress()
    onDone()
  }
  return (
    <>
      <header class="setup-header">
        <h1>{t('setup.welcome')}</h1>
        <p class="secondary-text">{t('setup.administratorText')}</p>
      </header>
      <Form onSubmit={create} submit={t('account.create')}>
        {token !== null && <TokenField token={token} isRefused={isRefused} onInput={setToken} />}
        <TextField
          label={t('account.name')}
          name="username"
          required
          maxLength={100}
          pattern="[^:]+"
          title={t('setup.usernameHint')}
          autocomplete="username"
          autocapitalize="none"
          autofocus
          {...username}
        />
        <EmailField name="email" {...email} />
        <NewPasswordField name="password" type={isShown ? 'text' : 'password'} {...password} />
        <Switch label={t('setup.showPassword')} checked={isShown} onChange={setShown} />
      </Form>
    </>
  )
}

/**
 * `serve` prints the address of this page with the setup token in its fragment, which browsers send to no server. It
 * stays there until it is used, because phones reload pages in the background.
 */
const tokenInAddress = () => new URLSearchParams(window.location.hash.slice(1)).get('token')

function forgetTokenInAddress() {
  const { pathname, search } = window.location
  history.replaceState(history.state, '', pathname + search)
}

type TokenFieldProps = { token: string; isRefused: boolean; onInput: (token: string) => void }

function TokenField({ token, isRefused, onInput }: TokenFieldProps) {
  return (
    <div class="stack setup-token" role="alert">
      <p>{t('setup.tokenText')}</p>
      <pre dir="ltr">{'Setup token (single use, …): ••••••••\n…/setup#token=••••••••'}</pre>
      <TextField
        label={t('setup.token')}
        name="setup-token"
        value={token}
        required
        dir="ltr"
        autocomplete="off"
        spellcheck={false}
        autofocus
        {...(isRefused && { error: t('setup.tokenRefused') })}
        onInput={onInput}
      />
    </div>
  )
}

/** The running scan of a new library, with its covers. */
function FirstScan({ libraryId }: { libraryId: string }) {
  const params = { path: { id: libraryId } }
  const library = useGet('/api/v1/libraries/{id}', params)
  const { scans, isLoaded, error, reload } = useScans(libraryId, signal => {
    const query = { libraryId }
    return body(api.GET('/api/v1/scans/latest', { params: { query }, signal }))
  })
  // Watching starts with its own scan, which is irrelevant after the first one.
  const [ended, setEnded] = useState<Scan | null>(null)
  const scan = ended ?? scans.get(libraryId)
  const isRunning = scan !== undefined && isActive(scan)
  // The following scan retries failed files only when they change.
  const failures = useRef(0)
  failures.current = Math.max(failures.current, scan?.failures ?? 0)
  useEffect(library.reload, [isRunning])
  useEffect(() => {
    if (scan?.status === 'completed' && !isActive(scan)) setEnded(scan)
  }, [scan])
  const failed = library.error ?? error
  if (failed && !library.data) return <ErrorState error={failed} onRetry={library.reload} />
  if (!library.data) return null
  const start = async () => {
    await api.POST('/api/v1/libraries/{id}/scan', { params })
    reload()
  }
  const problem = scan ? failureOf(scan) : null
  const isStopped = scan?.status === 'cancelled' || problem !== null
  return (
    <>
      <header class="setup-header">
        <h1>{heading(scan, isLoaded)}</h1>
        <p class="secondary-text">
          <bdi>{library.data.name}</bdi>
        </p>
      </header>
      {problem !== null && (
        <p class="notice danger" role="alert">
          {problem}
        </p>
      )}
      {scan && !isStopped && <ScanStages scan={scan} />}
      {!isRunning && library.data.bookCount > 0 && <p>{counts(library.data)}</p>}
      <div class="setup-actions">
        <ButtonLink path={`libraries/${libraryId}`} class="primary" text={t('setup.toLibrary')} />
        {(isStopped || (isLoaded && !scan)) && can('LibrariesWrite') && (
          <Button icon="refresh" text={t('scan.start')} onClick={start} />
        )}
        {failures.current > 0 && (
          <ButtonLink
            path={`admin/errors?library=${libraryId}`}
            text={t('scan.failures', { count: failures.current })}
          />
        )}
        {!isRunning && can('LibrariesWrite') && (
          <>
            <ButtonLink path="admin/matching" text={t('action.findMetadata')} />
            <ButtonLink path="setup?add=1" text={t('setup.addAnother')} />
          </>
        )}
      </div>
      <NewCovers libraryId={libraryId} />
    </>
  )
}

function heading(scan: Scan | undefined, isLoaded: boolean): string {
  if (!scan) return t(isLoaded ? 'libraries.notScanned' : 'setup.scanning')
  if (isActive(scan)) return t('setup.scanning')
  return t(scan.status === 'completed' ? 'setup.ready' : 'setup.stopped')
}

/** A scan after the first one (as watching starts) finds nothing new, so the library's counts are shown. */
const counts = ({ bookCount, seriesCount }: { bookCount: number; seriesCount: number }) =>
  `${t('count.series', { count: seriesCount })} · ${t('count.books', { count: bookCount })}`
