// The application: the current view in its frame, and everything above it.

import type { FunctionComponent } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { noConnection } from '../api/errors.ts'
import { isReachable, untilReachable } from '../api/reachable.ts'
import { account, can, hasEnded, isSignedIn } from '../api/session.ts'
import { loadedView, loadView } from '../routing/load-view.ts'
import type { ViewProps } from '../routing/route.ts'
import { address, href, navigate } from '../routing/router.ts'
import { type Match, matchRoute } from '../routing/routes.ts'
import { discarding } from '../routing/unsaved.ts'
import { t } from '../text/translate.ts'
import { ButtonLink } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/dialog.tsx'
import { DialogHost } from '../ui/dialog-host.tsx'
import { EmptyState, ErrorState, Loading, NoPermission } from '../ui/state.tsx'
import { Toasts } from '../ui/toast.tsx'
import { ConnectionBanner, PreviewBanner } from './banners.tsx'
import { Frame } from './frame.tsx'
import { SignInAgain } from './sign-in-again.tsx'

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
