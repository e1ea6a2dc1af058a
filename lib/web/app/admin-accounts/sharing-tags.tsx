// Sharing tags: groups of series to show to or hide from accounts.
import { useState } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { t } from '../text/translate.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'

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
  return (
    <section class="card sharing-tags">
      <h2>{t('field.sharing')}</h2>
      <p class="secondary-text">{t('users.sharingTagsText')}</p>
      <ul>
        {tags.data?.data.map(tag => (
          <li key={tag.id}>
            <strong>{tag.name}</strong>
            <span class="secondary-text">
              {t('users.sharingTagUse', { series: tag.seriesCount, users: tag.userCount })}
            </span>
            <IconButton
              icon="delete"
              variant="quiet"
              label={t('users.deleteTag', { name: tag.name })}
              onClick={() => setDeleted(tag)}
            />
          </li>
        ))}
      </ul>
      <Form onSubmit={create}>
        <TextField
          label={t('users.newTag')}
          required
          maxLength={100}
          value={name}
          onInput={setName}
        />
        <Button type="submit" icon="add">
          {t('users.addTag')}
        </Button>
      </Form>
      {deleted && (
        <ConfirmDialog
          title={t('users.deleteTag', { name: deleted.name })}
          text={t('users.deleteTagText', { name: deleted.name })}
          action={t('action.delete')}
          onClose={() => setDeleted(null)}
          onConfirm={async () => {
            const path = { tag_id: deleted.id }
            await api.DELETE('/api/v1/admin/sharing-tags/{tag_id}', { params: { path } })
            tags.reload()
          }}
        />
      )}
    </section>
  )
}
