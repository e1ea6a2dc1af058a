// The application: the current view in its frame, and everything above it.
import type { FunctionComponent } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ApiError, noConnection } from '../api/errors.ts'
import { connection, useEvents } from '../api/events.ts'
import { preview } from '../api/preview.ts'
import { isReachable, untilReachable } from '../api/reachable.ts'
import {
  account,
  can,
  endPreview,
  endSession,
  hasEnded,
  isSignedIn,
  resumeSession,
} from '../api/session.ts'
import { loadedView, loadView, type ViewProps } from '../routing/load-view.ts'
import { address, href, navigate } from '../routing/router.ts'
import { type Match, matchRoute } from '../routing/routes.ts'
import { discardBefore, discarding } from '../routing/unsaved.ts'
import { t } from '../text/translate.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { ConfirmDialog, Dialog } from '../ui/dialog.tsx'
import { DialogHost } from '../ui/dialog-host.tsx'
import { PasswordField, TextField, useInput } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { EmptyState, ErrorState, Loading, NoPermission } from '../ui/state.tsx'
import { Toasts } from '../ui/toast.tsx'
import { Frame } from './frame.tsx'

export function App() {
  const { path } = address.value
  const match = matchRoute(path)
  const isPublic = match?.route.access === 'public'
  const isBlocked = !isPublic && !isSignedIn.value && !hasEnded.value
  useEffect(() => {
    if (!isBlocked) return
    const { pathname, search } = window.location
    const from = (pathname + search).slice(href('').length)
    navigate(`sign-in${from ? `?from=${encodeURIComponent(from)}` : ''}`, { replace: true })
  }, [isBlocked])
  if (isBlocked) return null
  useArrival(path)
  const content = match ? <CurrentView key={match.route.pattern} match={match} /> : <UnknownPage />
  return (
    <>
      <ConnectionBanner />
      <PreviewBanner />
      {match?.route.frame === 'plain' ? content : <Frame>{content}</Frame>}
      <DialogHost />
      <DiscardQuestion />
      <SignInAgain />
      <Toasts layer={null} />
    </>
  )
}

function CurrentView({ match: { route, params } }: { match: Match }) {
  const [view, setView] = useState<{ View: FunctionComponent<ViewProps> | null; error?: Error }>(
    () => ({
      View: loadedView(route),
    }),
  )
  useEffect(() => {
    if (view.View) return
    let isLeft = false
    loadView(route).then(
      View => !isLeft && setView({ View }),
      async error => {
        if (!isLeft) setView({ View: null, error })
        if ((await untilReachable()) && !isLeft) location.reload()
      },
    )
    return () => {
      isLeft = true
    }
  }, [route])
  const { access } = route
  if (access !== undefined && access !== 'public' && account.value && !can(access))
    return <NoPermission />
  if (view.error)
    // Browsers cache a failed module load until the page is reloaded.
    return (
      <ErrorState
        error={isReachable.value ? view.error : noConnection()}
        onRetry={() => location.reload()}
      />
    )
  // Another series or book is another page.
  const key = Object.values(params).join()
  return view.View ? <view.View key={key} params={params} /> : <Loading />
}

function UnknownPage() {
  return (
    <EmptyState
      icon="search"
      title={t('state.unknownPage')}
      text={t('state.unknownPageText')}
      action={<ButtonLink path="" text={t('nav.home')} />}
    />
  )
}

/** Moves the focus into the view when the path changes; a search field in use keeps it. */
function useArrival(path: string) {
  const previous = useRef(path)
  useLayoutEffect(() => {
    if (previous.current === path) return
    previous.current = path
    if (document.activeElement?.matches('input, select, textarea, [autofocus], dialog *')) return
    document.querySelector<HTMLElement>('main[tabindex]')?.focus({ preventScroll: true })
  }, [path])
}

/** Confirmation before unsaved edits are lost. */
function DiscardQuestion() {
  const discard = discarding.value
  if (discard === null) return null
  return (
    <ConfirmDialog
      title={t('unsaved.title')}
      text={t('unsaved.text')}
      action={t('unsaved.discard')}
      onConfirm={discard}
      onClose={() => {
        discarding.value = null
      }}
    />
  )
}

/** After the session expired; forms keep what was typed. */
function SignInAgain() {
  return hasEnded.value ? <SignInDialog username={account.value?.username ?? ''} /> : null
}

function SignInDialog({ username }: { username: string }) {
  const password = useInput()
  const signIn = () =>
    resumeSession({ username, password: password.value }).catch(error => {
      throw isRefused(error) ? new ApiError(401, t('signIn.refused')) : error
    })
  return (
    <Dialog
      title={t('session.ended')}
      class="sign-in-again"
      onClose={() => discardBefore(endSession)}
    >
      <Form onSubmit={signIn} submit={t('signIn.title')}>
        <p class="secondary-text">{t('session.endedText')}</p>
        <TextField label={t('signIn.name')} autocomplete="username" readOnly value={username} />
        <PasswordField autofocus {...password} />
      </Form>
    </Dialog>
  )
}

const isRefused = (error: unknown) => error instanceof ApiError && error.status === 401

const backMs = 3_000
// Server restarts and brief losses of wireless connections are not worth a message.
const lostAfterMs = 1_500

const ignore = () => {}

function ConnectionBanner() {
  const [state, setState] = useState<'none' | 'lost' | 'back'>('none')
  const isLost = connection.value === 'lost'
  // The stream notices a lost connection on every page.
  useEvents('events', ignore)
  useEffect(() => {
    if (!isLost && state === 'none') return
    if (!isLost) setState('back')
    const timer = setTimeout(
      () => setState(isLost ? 'lost' : 'none'),
      isLost ? lostAfterMs : backMs,
    )
    return () => clearTimeout(timer)
  }, [isLost])
  if (state === 'none') return null
  return (
    <div class={`connection-banner ${state}`} role="status">
      {t(state === 'lost' ? 'connection.lost' : 'connection.back')}
    </div>
  )
}

/** The previewed account, and a button to end the preview. */
function PreviewBanner() {
  if (preview.value === null) return null
  const { accountId, username } = preview.value
  const end = async () => {
    await endPreview()
    navigate(`admin/users/${accountId}`)
  }
  return (
    <div class="preview-banner" role="status">
      <span>{t('preview.as', { name: username })}</span>
      <Button text={t('preview.end')} onClick={end} />
    </div>
  )
}
