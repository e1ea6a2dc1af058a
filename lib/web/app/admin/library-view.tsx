// Library page of the administration: running scan, options, maintenance, deletion.
import { useEffect, useState } from 'preact/hooks'
import { api, body } from '../api/client.ts'
import { type Library, type Resource, useGet } from '../api/resource.ts'
import {
  changesStrategies,
  draftOf,
  type LibraryDraft,
  updateRequest,
} from '../manage/library-draft.ts'
import { LibraryOptions, Section } from '../manage/library-options.tsx'
import {
  failureOf,
  isActive,
  placeText,
  resultText,
  type Scan,
  ScanStages,
  useScans,
  warningOf,
} from '../manage/scan.tsx'
import type { ViewProps } from '../routing/load-view.ts'
import { href } from '../routing/router.ts'
import { useUnsaved } from '../routing/unsaved.ts'
import { formatRelative, t } from '../text/translate.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { TextArea, TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { FilePath } from '../ui/name.tsx'
import { ErrorState } from '../ui/state.tsx'
import { showNotice } from '../ui/toast.tsx'
import { AdminFrame } from './admin-frame.tsx'
import { cancelScan, Marks, startScan } from './libraries-view.tsx'
import { LibraryMaintenance } from './library-maintenance.tsx'
import { libraryProblem } from './server-metrics.ts'

export function View({ params: { id = '' } }: ViewProps) {
  const library = useGet('/api/v1/libraries/{id}', { path: { id } })
  const { scans, reload } = useScans(id, signal => {
    const query = { libraryId: id }
    return body(api.GET('/api/v1/scans/latest', { params: { query }, signal }))
  })
  const scan = scans.get(id)
  const isRunning = scan !== undefined && isActive(scan)
  useEffect(library.reload, [isRunning])
  const { data, error } = library
  if (error && !data)
    return (
      <AdminFrame title={t('nav.libraries')}>
        <ErrorState error={error} onRetry={library.reload} />
      </AdminFrame>
    )
  if (!data) return <AdminFrame title="">{null}</AdminFrame>
  return (
    <AdminFrame
      title={data.name}
      subtitle={<FilePath path={data.path} />}
      actions={<ScanButtons id={id} isRunning={isRunning} onStarted={reload} />}
    >
      <State library={data} scan={scan} />
      <div class="admin-form">
        <OptionsForm library={data} resource={library} onScan={reload} />
        <LibraryMaintenance library={data} onChange={library.reload} />
      </div>
    </AdminFrame>
  )
}

type ScanButtonsProps = { id: string; isRunning: boolean; onStarted: () => void }

function ScanButtons({ id, isRunning, onStarted }: ScanButtonsProps) {
  if (isRunning)
    return <Button icon="close" text={t('scan.cancel')} onClick={() => cancelScan(id)} />
  return (
    <>
      <ButtonLink path={`libraries/${id}`} text={t('library.open')} />
      <Button onClick={() => startScan(id, 'deep', onStarted)} title={t('scan.mode.deep')}>
        {t('scan.startDeep')}
      </Button>
      <Button icon="refresh" variant="primary" onClick={() => startScan(id, 'normal', onStarted)}>
        {t('scan.start')}
      </Button>
    </>
  )
}

function State({ library, scan }: { library: Library; scan: Scan | undefined }) {
  const problem = libraryProblem(library, { scan })
  const failure = scan ? failureOf(scan) : null
  const warning = scan ? warningOf(scan) : null
  return (
    <section class="stack library-state" aria-live="polite">
      {problem !== null && <p class="notice danger">{problem}</p>}
      {problem === null && failure !== null && <p class="notice danger">{failure}</p>}
      {warning !== null && <p class="notice">{warning}</p>}
      {library.strategiesChanged && !(scan && isActive(scan)) && (
        <p class="notice">{t('library.strategiesChanged')}</p>
      )}
      {scan && isActive(scan) ? (
        <ScanStages scan={scan} />
      ) : (
        <p class="secondary-text">{stateText(library, scan)}</p>
      )}
      {scan && scan.failures > 0 && (
        <p>
          <a href={href(`admin/errors?library=${library.id}`)}>
            {t('scan.failures', { count: scan.failures })}
          </a>
        </p>
      )}
      <Marks library={library} />
    </section>
  )
}

function stateText(library: Library, scan: Scan | undefined): string {
  const counts = `${t('count.series', { count: library.seriesCount })} · ${t('count.books', { count: library.bookCount })}`
  if (!scan) return `${counts} · ${t('libraries.notScanned')}`
  const ended = formatRelative(scan.completedAt ?? scan.startedAt)
  const time = [ended, placeText(scan)].filter(Boolean).join(' · ')
  if (scan.status === 'cancelled') return `${counts} · ${time}: ${t('scan.cancelled')}`
  return scan.status === 'completed' ? `${counts} · ${time}: ${resultText(scan)}` : counts
}

type OptionsFormProps = { library: Library; resource: Resource<Library>; onScan: () => void }

function OptionsForm({ library, resource, onScan }: OptionsFormProps) {
  const [saved, setSaved] = useState<LibraryDraft>(() => draftOf(library))
  const [draft, setDraft] = useState<LibraryDraft>(saved)
  const changes = updateRequest(saved, draft)
  const isChanged = Object.keys(changes).length > 0
  useUnsaved(isChanged)
  const change = (changes: Partial<LibraryDraft>) =>
    setDraft(previous => ({ ...previous, ...changes }))
  const save = async () => {
    const params = { path: { id: library.id } }
    const updated = await body(api.PATCH('/api/v1/libraries/{id}', { params, body: changes }))
    resource.replace(updated)
    setSaved(draftOf(updated))
    setDraft(draftOf(updated))
    showNotice(t('action.saved'))
    if (changesStrategies(saved, draft)) await startScan(library.id, 'normal', onScan)
  }
  return (
    <Form onSubmit={save}>
      <Section title="metadata.tab.general">
        <TextField
          label={t('field.name')}
          value={draft.name}
          required
          maxLength={200}
          onInput={name => change({ name })}
        />
        <TextField
          label={t('folder.path')}
          hint={t('library.pathHint')}
          value={draft.path}
          required
          dir="ltr"
          onInput={path => change({ path })}
        />
        <TextArea
          label={t('field.description')}
          rows={2}
          value={draft.description}
          maxLength={5000}
          onInput={description => change({ description })}
        />
      </Section>
      <LibraryOptions draft={draft} onChange={change} existing={{ id: library.id, saved }} />
      <div class={`save-bar${isChanged ? ' card changed' : ''}`}>
        <Button type="submit" variant="primary" disabled={!isChanged}>
          {t(changesStrategies(saved, draft) ? 'library.saveAndScan' : 'action.save')}
        </Button>
        {isChanged && (
          <Button variant="quiet" text={t('library.discard')} onClick={() => setDraft(saved)} />
        )}
      </div>
    </Form>
  )
}
