// A library in the administration: its scan as it runs, all options, maintenance, deletion.

import { useEffect, useState } from 'preact/hooks'
import { api, body } from '../api/client.ts'
import { type Resource, useResource } from '../api/resource.ts'
import {
  changesStrategies,
  draftOf,
  type LibraryDraft,
  updateRequest,
} from '../manage/library-draft.ts'
import { LibraryOptions, Section } from '../manage/library-options.ts'
import { placeText } from '../manage/place.ts'
import { isActive, type Scan, useScans } from '../manage/scan.ts'
import { failureOf, resultText, ScanStages } from '../manage/scan-progress.ts'
import { href } from '../routing/router.ts'
import { useUnsaved } from '../routing/unsaved.ts'
import type { ViewProps } from '../routing/view-props.ts'
import { formatRelative, t } from '../text/translate.ts'
import { Button } from '../ui/button.ts'
import { ErrorState } from '../ui/error-state.ts'
import { TextArea, TextField } from '../ui/field.ts'
import { Form } from '../ui/form.ts'
import { h } from '../ui/h.ts'
import { showNotice } from '../ui/toast.ts'
import { AdminFrame } from './admin-frame.ts'
import { Marks } from './libraries-view.ts'
import { LibraryMaintenance } from './library-maintenance.ts'
import { libraryProblem } from './library-problem.ts'
import { cancelScan, startScan } from './scan-actions.ts'
import type { Library } from './use-libraries.ts'

export function View({ params: { id = '' } }: ViewProps) {
  return h(LibraryPage, { id, key: id })
}

function LibraryPage({ id }: { id: string }) {
  const params = { path: { id } }
  const library = useResource(`library:${id}`, signal =>
    body(api.GET('/api/v1/libraries/{id}', { params, signal })),
  )
  const { scans, reload } = useScans(id, signal => {
    const query = { libraryId: id }
    return body(api.GET('/api/v1/scans/latest', { params: { query }, signal }))
  })
  const scan = scans.get(id)
  const isRunning = scan !== undefined && isActive(scan)
  useEffect(library.reload, [isRunning])
  const { data, error } = library
  if (error && !data)
    return h(
      AdminFrame,
      { title: t('nav.libraries') },
      h(ErrorState, { error, onRetry: library.reload }),
    )
  if (!data) return h(AdminFrame, { title: '', children: null })
  return h(
    AdminFrame,
    {
      title: data.name,
      subtitle: h('code', { class: 'file-path', dir: 'ltr' }, data.path),
      actions: h(ScanButtons, { id, isRunning, onStarted: reload }),
    },
    h(State, { library: data, scan }),
    h(
      'div',
      { class: 'admin-form' },
      h(OptionsForm, { library: data, resource: library, onScan: reload }),
      h(LibraryMaintenance, { library: data, onChange: library.reload }),
    ),
  )
}

type ScanButtonsProps = { id: string; isRunning: boolean; onStarted: () => void }

function ScanButtons({ id, isRunning, onStarted }: ScanButtonsProps) {
  if (isRunning)
    return h(Button, { icon: 'close', onClick: () => cancelScan(id) }, t('scan.cancel'))
  return [
    h('a', { class: 'button', href: href(`libraries/${id}`), key: 'open' }, t('library.open')),
    h(
      Button,
      { onClick: () => startScan(id, 'deep', onStarted), title: t('scan.mode.deep'), key: 'deep' },
      t('scan.startDeep'),
    ),
    h(
      Button,
      {
        icon: 'refresh',
        variant: 'primary',
        onClick: () => startScan(id, 'normal', onStarted),
        key: 'scan',
      },
      t('scan.start'),
    ),
  ]
}

function State({ library, scan }: { library: Library; scan: Scan | undefined }) {
  const problem = libraryProblem(library, { scan })
  const failure = scan ? failureOf(scan) : null
  return h(
    'section',
    { class: 'library-state', 'aria-live': 'polite' },
    problem !== null && h('p', { class: 'notice danger' }, problem),
    problem === null && failure !== null && h('p', { class: 'notice danger' }, failure),
    library.strategiesChanged &&
      !(scan && isActive(scan)) &&
      h('p', { class: 'notice' }, t('library.strategiesChanged')),
    scan && isActive(scan)
      ? h(ScanStages, { scan })
      : h('p', { class: 'secondary-text' }, stateText(library, scan)),
    scan &&
      scan.failures > 0 &&
      h(
        'p',
        null,
        h(
          'a',
          { href: href(`admin/errors?library=${library.id}`) },
          t('scan.failures', { count: scan.failures }),
        ),
      ),
    h(Marks, { library }),
  )
}

function stateText(library: Library, scan: Scan | undefined): string {
  const counts = `${t('count.series', { count: library.seriesCount })} · ${t('count.books', { count: library.bookCount })}`
  if (!scan) return `${counts} · ${t('setup.notScanned')}`
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
  return h(
    Form,
    { onSubmit: save },
    h(
      Section,
      { title: 'libraryOptions.general' },
      h(TextField, {
        label: t('library.name'),
        value: draft.name,
        required: true,
        maxLength: 200,
        onInput: name => change({ name }),
      }),
      h(TextField, {
        label: t('folder.path'),
        hint: t('library.pathHint'),
        value: draft.path,
        required: true,
        dir: 'ltr',
        onInput: path => change({ path }),
      }),
      h(TextArea, {
        label: t('library.description'),
        rows: 2,
        value: draft.description,
        maxLength: 5000,
        onInput: description => change({ description }),
      }),
    ),
    h(LibraryOptions, { draft, onChange: change, existing: { id: library.id, saved } }),
    h(
      'div',
      { class: `save-bar${isChanged ? ' changed' : ''}` },
      h(
        'button',
        { class: 'button primary', type: 'submit', disabled: !isChanged },
        t(changesStrategies(saved, draft) ? 'library.saveAndScan' : 'action.save'),
      ),
      isChanged &&
        h(Button, { variant: 'quiet', onClick: () => setDraft(saved) }, t('library.discard')),
    ),
  )
}
