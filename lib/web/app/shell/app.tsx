// The application: the current view in its frame, and everything above it.

import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { noConnection } from '../api/errors.ts'
import { isReachable, untilReachable } from '../api/reachable.ts'
import { account, can, hasEnded, isSignedIn } from '../api/session.ts'
import { loadedView, loadView } from '../routing/load-view.ts'
import { address, href, navigate } from '../routing/router.ts'
import { type Match, matchRoute } from '../routing/routes.ts'
import type { ViewProps } from '../routing/view-props.ts'
import { t } from '../text/translate.ts'
import { DialogHost } from '../ui/dialog-host.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { Toasts } from '../ui/toast.tsx'
import { useArrival } from './arrival.ts'
import { ConnectionBanner } from './connection-banner.tsx'
import { DiscardQuestion } from './discard-question.tsx'
import { Frame } from './frame.tsx'
import { PreviewBanner } from './preview-banner.tsx'
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
    return (
      <EmptyState icon="lock" title={t('state.noPermission')} text={t('state.noPermissionText')} />
    )
  if (view.error)
    // Browsers cache a failed module load until the page is reloaded.
    return (
      <ErrorState
        error={isReachable.value ? view.error : noConnection()}
        onRetry={() => location.reload()}
      />
    )
  return view.View ? <view.View params={params} /> : <div class="view-loading" aria-busy />
}

function UnknownPage() {
  return (
    <EmptyState
      icon="search"
      title={t('state.unknownPage')}
      text={t('state.unknownPageText')}
      action={
        <a class="button" href={href('')}>
          {t('nav.home')}
        </a>
      }
    />
  )
}
