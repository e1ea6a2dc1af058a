// Maintenance of a library: missing books, covers, titles, files that were not analyzed; deletion.
import { useState } from 'preact/hooks'
import { api, body } from '../api/client.ts'
import { forget, type Library } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { Section } from '../manage/library-options.tsx'
import { navigate } from '../routing/router.ts'
import { type TextKey, t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { Dialog, useConfirm } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { showNotice } from '../ui/toast.tsx'

type LibraryProps = { library: Library; onChange: () => void }

export function LibraryMaintenance({ library, onChange }: LibraryProps) {
  const params = { path: { id: library.id } }
  const started = ({ tasksEnqueued }: { tasksEnqueued: number }) =>
    showNotice(t(tasksEnqueued > 0 ? 'maintenance.started' : 'maintenance.nothing'))
  const makeCovers = async () => {
    const request = { params, body: { force: false } }
    started(await body(api.POST('/api/v1/libraries/{id}/books/thumbnails/generate', request)))
  }
  const reprocess = async () => {
    const request = { params, body: {} }
    started(await body(api.POST('/api/v1/libraries/{id}/series/titles/reprocess', request)))
  }
  return (
    <>
      <Section title="task.maintenance">
        {can('TasksWrite') && <Action name="covers" icon="refresh" onClick={makeCovers} />}
        <Action name="titles" icon="refresh" onClick={reprocess} />
        {can('BooksDelete') && <PurgeAction library={library} onChange={onChange} />}
      </Section>
      {can('LibrariesDelete') && <DeleteAction library={library} />}
    </>
  )
}

const actionTexts = {
  covers: 'task.generate_thumbnails',
  titles: 'maintenance.titles.action',
  purge: 'task.purge_deleted',
  delete: 'task.delete_library',
} as const satisfies Record<string, TextKey>

type ActionProps = {
  name: keyof typeof actionTexts
  icon: 'refresh' | 'delete'
  onClick: () => unknown
  variant?: 'danger'
}

function Action({ name, icon, onClick, variant }: ActionProps) {
  return (
    <div class="row maintenance-action">
      <div>
        <strong>{t(name === 'delete' ? actionTexts.delete : `maintenance.${name}`)}</strong>
        <p class="secondary-text">{t(`maintenance.${name}.text`)}</p>
      </div>
      <Button icon={icon} onClick={onClick} {...(variant && { variant })}>
        {t(actionTexts[name])}
      </Button>
    </div>
  )
}

function PurgeAction({ library, onChange }: LibraryProps) {
  const purge = async () => {
    const params = { path: { id: library.id } }
    const count = await body(api.DELETE('/api/v1/libraries/{id}/purge-deleted', { params }))
    showNotice(t('maintenance.purged', { count: Number(count) }))
    onChange()
  }
  const { ask, dialog } = useConfirm({
    title: t('maintenance.purge'),
    text: t('maintenance.purge.text'),
    action: t('task.purge_deleted'),
    onConfirm: purge,
  })
  return (
    <>
      <Action name="purge" icon="delete" onClick={ask} />
      {dialog}
    </>
  )
}

function DeleteAction({ library }: { library: Library }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Section title="action.delete">
      <Action name="delete" icon="delete" variant="danger" onClick={() => setOpen(true)} />
      {isOpen && <DeleteDialog library={library} onClose={() => setOpen(false)} />}
    </Section>
  )
}

/** Typing the name confirms the deletion, because the reading progress of all accounts is lost. */
function DeleteDialog({ library, onClose }: { library: Library; onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const isConfirmed = typed.trim() === library.name.trim()
  const remove = async () => {
    await api.DELETE('/api/v1/libraries/{id}', { params: { path: { id: library.id } } })
    forget('/api/v1/libraries')
    onClose()
    showNotice(t('maintenance.deleted', { name: library.name }))
    navigate('admin/libraries')
  }
  const actions = (
    <>
      <Button variant="quiet" text={t('action.cancel')} onClick={onClose} />
      <Button variant="danger" disabled={!isConfirmed} onClick={remove}>
        {t('task.delete_library')}
      </Button>
    </>
  )
  return (
    <Dialog title={t('task.delete_library')} onClose={onClose} actions={actions}>
      <div class="form">
        <p>{t('maintenance.delete.text')}</p>
        <p>
          {t('maintenance.deleteCounts', { books: t('count.books', { count: library.bookCount }) })}
        </p>
        <TextField
          label={t('maintenance.typeName', { name: library.name })}
          value={typed}
          autocomplete="off"
          onInput={setTyped}
        />
      </div>
    </Dialog>
  )
}
