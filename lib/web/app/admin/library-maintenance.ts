// Maintenance of a library: missing books, covers, titles, files that were not analyzed; deletion.
import { useState } from 'preact/hooks'
import { api, body } from '../api/client.ts'
import { can } from '../api/session.ts'
import { Section } from '../manage/library-options.ts'
import { navigate } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.ts'
import { ConfirmDialog, Dialog } from '../ui/dialog.ts'
import { TextField } from '../ui/field.ts'
import { h } from '../ui/h.ts'
import { showNotice } from '../ui/toast.ts'
import type { Library } from './use-libraries.ts'

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
  return [
    h(
      Section,
      { title: 'maintenance.title', key: 'maintenance' },
      can('TasksWrite') && h(Action, { name: 'covers', icon: 'refresh', onClick: makeCovers }),
      h(Action, { name: 'titles', icon: 'refresh', onClick: reprocess }),
      can('BooksDelete') && h(PurgeAction, { library, onChange }),
    ),
    can('LibrariesDelete') && h(DeleteAction, { library, key: 'delete' }),
  ]
}

type ActionProps = {
  name: 'covers' | 'titles' | 'purge' | 'delete'
  icon: 'refresh' | 'delete'
  onClick: () => unknown
  variant?: 'danger'
}

function Action({ name, icon, onClick, variant }: ActionProps) {
  return h(
    'div',
    { class: 'maintenance-action' },
    h(
      'div',
      null,
      h('strong', null, t(`maintenance.${name}`)),
      h('p', { class: 'secondary-text' }, t(`maintenance.${name}.text`)),
    ),
    h(Button, { icon, onClick, ...(variant && { variant }) }, t(`maintenance.${name}.action`)),
  )
}

function PurgeAction({ library, onChange }: LibraryProps) {
  const [isOpen, setOpen] = useState(false)
  const purge = async () => {
    const params = { path: { id: library.id } }
    const count = await body(api.DELETE('/api/v1/libraries/{id}/purge-deleted', { params }))
    showNotice(t('maintenance.purged', { count: Number(count) }))
    onChange()
  }
  return [
    h(Action, { name: 'purge', icon: 'delete', onClick: () => setOpen(true), key: 'action' }),
    isOpen &&
      h(ConfirmDialog, {
        key: 'dialog',
        title: t('maintenance.purge'),
        text: t('maintenance.purge.text'),
        action: t('maintenance.purge.action'),
        onConfirm: purge,
        onClose: () => setOpen(false),
      }),
  ]
}

function DeleteAction({ library }: { library: Library }) {
  const [isOpen, setOpen] = useState(false)
  return h(
    Section,
    { title: 'maintenance.danger' },
    h(Action, { name: 'delete', icon: 'delete', variant: 'danger', onClick: () => setOpen(true) }),
    isOpen && h(DeleteDialog, { library, onClose: () => setOpen(false) }),
  )
}

/** Deletion is confirmed by typing the name: it takes the reading progress of all accounts with it. */
function DeleteDialog({ library, onClose }: { library: Library; onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const isConfirmed = typed.trim() === library.name.trim()
  const remove = async () => {
    await api.DELETE('/api/v1/libraries/{id}', { params: { path: { id: library.id } } })
    onClose()
    showNotice(t('maintenance.deleted', { name: library.name }))
    navigate('admin/libraries')
  }
  const actions = [
    h(Button, { variant: 'quiet', onClick: onClose, key: 'cancel' }, t('action.cancel')),
    h(
      Button,
      { variant: 'danger', disabled: !isConfirmed, onClick: remove, key: 'delete' },
      t('maintenance.delete.action'),
    ),
  ]
  return h(
    Dialog,
    { title: t('maintenance.delete'), onClose, actions },
    h(
      'div',
      { class: 'form' },
      h('p', null, t('maintenance.delete.text')),
      h(
        'p',
        null,
        t('maintenance.deleteCounts', { books: t('count.books', { count: library.bookCount }) }),
      ),
      h(TextField, {
        label: t('maintenance.typeName', { name: library.name }),
        value: typed,
        autocomplete: 'off',
        onInput: setTyped,
      }),
    ),
  )
}
