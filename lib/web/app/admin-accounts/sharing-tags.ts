// Sharing tags: groups of series that accounts may see or not.
import { useState } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { t } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.ts'
import { ConfirmDialog } from '../ui/dialog.ts'
import { TextField } from '../ui/field.ts'
import { Form } from '../ui/form.ts'
import { h } from '../ui/h.ts'

export function SharingTags() {
  const [name, setName] = useState('')
  const [deleted, setDeleted] = useState<Schemas['SharingTag'] | null>(null)
  const tags = useResource('sharing-tags', signal =>
    body(api.GET('/api/v1/admin/sharing-tags', { params: { query: { pageSize: 500 } }, signal })),
  )
  const create = async () => {
    await api.POST('/api/v1/admin/sharing-tags', { body: { name } })
    setName('')
    tags.reload()
  }
  if (tags.isLoading) return null
  return h(
    'section',
    { class: 'card sharing-tags' },
    h('h2', null, t('users.sharingTags')),
    h('p', { class: 'secondary-text' }, t('users.sharingTagsText')),
    h(
      'ul',
      null,
      tags.data?.data.map(tag =>
        h(
          'li',
          { key: tag.id },
          h('strong', null, tag.name),
          h(
            'span',
            { class: 'secondary-text' },
            t('users.sharingTagUse', { series: tag.seriesCount, users: tag.userCount }),
          ),
          h(IconButton, {
            icon: 'delete',
            variant: 'quiet',
            label: t('users.deleteTag', { name: tag.name }),
            onClick: () => setDeleted(tag),
          }),
        ),
      ),
    ),
    h(
      Form,
      { onSubmit: create },
      h(TextField, {
        label: t('users.newTag'),
        required: true,
        maxLength: 100,
        value: name,
        onInput: setName,
      }),
      h(Button, { type: 'submit', icon: 'add' }, t('users.addTag')),
    ),
    deleted &&
      h(ConfirmDialog, {
        title: t('users.deleteTag', { name: deleted.name }),
        text: t('users.deleteTagText', { name: deleted.name }),
        action: t('action.delete'),
        onClose: () => setDeleted(null),
        onConfirm: async () => {
          const path = { tag_id: deleted.id }
          await api.DELETE('/api/v1/admin/sharing-tags/{tag_id}', { params: { path } })
          tags.reload()
        },
      }),
  )
}
