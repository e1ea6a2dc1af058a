// The application: the view of the current address in its frame, and what stands before all views.

import { Fragment, type FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { noConnection } from '../api/errors.ts'
import { isReachable, untilReachable } from '../api/reachable.ts'
import { account, can, hasEnded, isSignedIn } from '../api/session.ts'
import { loadedView, loadView } from '../routing/load-view.ts'
import { address, href, navigate } from '../routing/router.ts'
import { type Match, matchRoute } from '../routing/routes.ts'
import type { ViewProps } from '../routing/view-props.ts'
import { t } from '../text/translate.ts'
import { DialogHost } from '../ui/dialog-host.ts'
import { EmptyState } from '../ui/empty-state.ts'
import { ErrorState } from '../ui/error-state.ts'
import { h } from '../ui/h.ts'
import { Toasts } from '../ui/toast.ts'
import { useArrival } from './arrival.ts'
import { ConnectionBanner } from './connection-banner.ts'
import { DiscardQuestion } from './discard-question.ts'
import { Frame } from './frame.ts'
import { PreviewBanner } from './preview-banner.ts'
import { SignInAgain } from './sign-in-again.ts'

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
  const content = match ? h(CurrentView, { match, key: match.route.pattern }) : h(UnknownPage, null)
  return h(
    Fragment,
    null,
    h(ConnectionBanner, null),
    h(PreviewBanner, null),
    match?.route.frame === 'plain' ? content : h(Frame, null, content),
    h(DialogHost, null),
    h(DiscardQuestion, null),
    h(SignInAgain, null),
    h(Toasts, { layer: null }),
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
    return h(EmptyState, {
      icon: 'lock',
      title: t('state.noPermission'),
      text: t('state.noPermissionText'),
    })
  if (view.error)
    // Browsers remember modules that could not be loaded until the page is loaded again.
    return h(ErrorState, {
      error: isReachable.value ? view.error : noConnection(),
      onRetry: () => location.reload(),
    })
  return view.View
    ? h(view.View, { params })
    : h('div', { class: 'view-loading', 'aria-busy': true })
}

function UnknownPage() {
  return h(EmptyState, {
    icon: 'search',
    title: t('state.unknownPage'),
    text: t('state.unknownPageText'),
    action: h('a', { class: 'button', href: href('') }, t('nav.home')),
  })
}
