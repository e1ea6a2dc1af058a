// Setup: administrator, first library, and its running scan.

import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { assetUrl } from '../api/assets.ts'
import { can, isSignedIn } from '../api/session.ts'
import { useGet } from '../api/use-get.ts'
import { useLibraries } from '../api/use-libraries.ts'
import { AddLibrary } from '../manage/add-library.tsx'
import { address, href, navigate } from '../routing/router.ts'
import { type TextKey, t } from '../text/translate.ts'
import { ButtonLink } from '../ui/button.tsx'
import { useTitle } from '../ui/page-header.tsx'
import { ErrorState, NoPermission } from '../ui/state.tsx'
import { AdministratorForm } from './administrator-form.tsx'
import { FirstScan } from './first-scan.tsx'

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
