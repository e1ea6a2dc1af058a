// Visible content of an account: libraries, age limit, sharing tags.
import { useState } from 'preact/hooks'
import { api, type Schemas } from '../api/client.ts'
import { useGetAll } from '../api/use-get.ts'
import { useLibraries } from '../api/use-libraries.ts'
import { useEdited, useUnsaved } from '../routing/unsaved.ts'
import { t } from '../text/translate.ts'
import { Select, Switch, TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { showNotice } from '../ui/toast.tsx'

type User = Schemas['User']
type UserVisibilityProps = { user: User; onSaved: () => void }

export function UserVisibility({ user, onSaved }: UserVisibilityProps) {
  const [libraryIds, setLibraryIds] = useState<readonly string[] | null>(user.libraryIds)
  const [ageLimit, setAgeLimit] = useState(user.ageLimit === null ? '' : String(user.ageLimit))
  const [showsUnrated, setShowsUnrated] = useState(user.showsUnrated)
  const { isEdited, setSaved } = useEdited([libraryIds, ageLimit, showsUnrated])
  useUnsaved(isEdited)
  const libraries = useLibraries().data ?? []
  const save = async () => {
    const limit = ageLimit.trim() === '' ? null : Number(ageLimit)
    const changes = { libraryIds: libraryIds && [...libraryIds], ageLimit: limit, showsUnrated }
    await api.PATCH('/api/v1/users/{id}', { params: { path: { id: user.id } }, body: changes })
    setSaved()
    onSaved()
    showNotice(t('action.saved'))
  }
  const toggle = (id: string, isVisible: boolean) => {
    const others = (libraryIds ?? []).filter(other => other !== id)
    setLibraryIds(isVisible ? [...others, id] : others)
  }
  return (
    <section class="card">
      <h2>{t('account.visibility')}</h2>
      <Form onSubmit={save} submit={t('action.save')}>
        <Switch
          label={t('account.allLibraries')}
          hint={t('users.allLibrariesHint')}
          checked={libraryIds === null}
          onChange={all => setLibraryIds(all ? null : libraries.map(({ id }) => id))}
        />
        {libraryIds !== null && (
          <div class="user-libraries" role="group" aria-label={t('nav.libraries')}>
            {libraries.map(({ id, name }) => (
              <Switch
                key={id}
                label={name}
                checked={libraryIds.includes(id)}
                onChange={isVisible => toggle(id, isVisible)}
              />
            ))}
          </div>
        )}
        <TextField
          label={t('users.ageLimit')}
          hint={t('users.ageLimitHint')}
          type="number"
          min={0}
          max={99}
          value={ageLimit}
          onInput={setAgeLimit}
        />
        {ageLimit.trim() !== '' && (
          <Switch
            label={t('users.showsUnrated')}
            checked={showsUnrated}
            onChange={setShowsUnrated}
          />
        )}
      </Form>
      <SharingRules userId={user.id} />
    </section>
  )
}

type Mode = 'none' | 'allow' | 'deny'

/** Series with a tag that any account allows are shown only to accounts with that rule; denied series never. */
function SharingRules({ userId }: { userId: string }) {
  const tags = useGetAll('/api/v1/admin/sharing-tags')
  const path = { id: userId }
  const rules = useGetAll('/api/v1/users/{id}/sharing-tags', { path })
  if (!tags.data?.length || !rules.data) return null
  const modeOf = (tagId: string): Mode =>
    (rules.data?.find(rule => rule.sharingTagId === tagId)?.accessMode as Mode) ?? 'none'
  const change = async (tagId: string, mode: Mode) => {
    if (mode === 'none')
      await api.DELETE('/api/v1/users/{id}/sharing-tags/{tag_id}', {
        params: { path: { id: userId, tag_id: tagId } },
      })
    else
      await api.PUT('/api/v1/users/{id}/sharing-tags', {
        params: { path },
        body: { sharingTagId: tagId, accessMode: mode },
      })
    rules.reload()
  }
  return (
    <div class="user-sharing form">
      <h3>{t('field.sharing')}</h3>
      <p class="field-hint">{t('users.sharingTagsHint')}</p>
      {tags.data.map(({ id, name }) => (
        <Select<Mode>
          key={id}
          label={name}
          value={modeOf(id)}
          options={(['none', 'allow', 'deny'] as const).map(value => ({
            value,
            text: t(`users.sharing.${value}`),
          }))}
          onChange={mode => void change(id, mode)}
        />
      ))}
    </div>
  )
}
