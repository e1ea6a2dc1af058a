// First start: the administrator, the first library, and its scan as it runs.

import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { assetUrl } from '../api/assets.ts'
import { api, body } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { can, isSignedIn } from '../api/session.ts'
import { AddLibrary } from '../manage/add-library.ts'
import { address, href, navigate } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { EmptyState } from '../ui/empty-state.ts'
import { ErrorState } from '../ui/error-state.ts'
import { h } from '../ui/h.ts'
import { useTitle } from '../ui/page-header.ts'
import { AdministratorForm } from './administrator-form.ts'
import { FirstScan } from './first-scan.ts'

const steps = ['administrator', 'library', 'scan'] as const
type Step = (typeof steps)[number]

export function View() {
  const { data, error, reload } = useResource('setup-status', signal =>
    body(api.GET('/api/v1/setup/status', { signal })),
  )
  const needsSignIn = data?.setupRequired === false && !isSignedIn.value
  useEffect(() => {
    if (needsSignIn) navigate('sign-in?from=setup', { replace: true })
  }, [needsSignIn])
  if (error && !data) return h(ErrorState, { error, onRetry: reload })
  if (!data || needsSignIn) return null
  if (data.setupRequired)
    return h(SetupPage, { step: 'administrator' }, h(AdministratorForm, { onDone: reload }))
  return h(LibrarySetup, null)
}

/** The step follows from what is there, so that it goes on after a reload and on another device. */
function LibrarySetup() {
  const { query } = address.value
  const { data, error, reload } = useResource('setup-libraries', signal =>
    body(api.GET('/api/v1/libraries', { params: { query: { page: 1, pageSize: 100 } }, signal })),
  )
  if (error && !data) return h(ErrorState, { error, onRetry: reload })
  if (!data) return null
  const latest = [...data.data].sort((a, b) => b.createdAt.localeCompare(a.createdAt))[0]
  const id = query.get('library') ?? latest?.id
  if (id !== undefined && !query.has('add'))
    return h(SetupPage, { step: 'scan' }, h(FirstScan, { libraryId: id, key: id }))
  if (!can('LibrariesWrite'))
    return h(EmptyState, {
      icon: 'lock',
      title: t('state.noPermission'),
      text: t('state.noPermissionText'),
      action: h('a', { class: 'button', href: href('') }, t('nav.home')),
    })
  const added = ({ id }: { id: string }) => {
    reload()
    navigate(`setup?library=${id}`)
  }
  return h(
    SetupPage,
    { step: 'library' },
    h(
      'header',
      { class: 'setup-header' },
      h('h1', null, t('setup.library')),
      h('p', { class: 'secondary-text' }, t('setup.libraryText')),
    ),
    h(AddLibrary, { onAdded: added }),
    h('p', { class: 'setup-skip' }, h('a', { href: href('') }, t('setup.later'))),
  )
}

function SetupPage({ step, children }: { step: Step; children?: ComponentChildren }) {
  useTitle(t('setup.title'))
  const current = steps.indexOf(step)
  return h(
    'main',
    { class: `setup-page ${step}` },
    h(
      'div',
      { class: 'setup-brand' },
      h('img', { src: brandIcon, alt: '', width: 40, height: 40 }),
      h('span', null, 'Stackroom'),
      h(
        'ol',
        { class: 'setup-steps', 'aria-label': t('setup.steps') },
        steps.map((name, i) =>
          h(
            'li',
            {
              key: name,
              class: i < current ? 'done' : undefined,
              'aria-current': i === current ? 'step' : undefined,
            },
            t(`setup.step.${name}`),
          ),
        ),
      ),
    ),
    children,
  )
}

const brandIcon = assetUrl('icons/icon.svg')
