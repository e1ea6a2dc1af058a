// Page of one account for administrators: role, visible content, password, preview, deletion.
import { useState } from 'preact/hooks'
import { AdminFrame } from '../admin/admin-frame.tsx'
import { api, type Schemas } from '../api/client.ts'
import { useGet, useGetAll, useLibraries } from '../api/resource.ts'
import { account, can, startPreview } from '../api/session.ts'
import type { ViewProps } from '../routing/load-view.ts'
import { navigate } from '../routing/router.ts'
import { useEdited, useUnsaved } from '../routing/unsaved.ts'
import { formatDate, t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { useConfirm } from '../ui/dialog.tsx'
import { NewPasswordField, optionsOf, Select, Switch, TextField, useInput } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { ErrorState } from '../ui/state.tsx'
import { showNotice } from '../ui/toast.tsx'
import { type AccountDraft, AccountFields } from './account-fields.tsx'

type User = Schemas['User']

export function View({ params: { id = '' } }: ViewProps) {
  const { data, error, reload } = useGet('/api/v1/users/{id}', { path: { id } })
  const isOwn = account.value?.id === id
  const showAs = async () => {
    await startPreview(id)
    navigate('')
  }
  const remove = async () => {
    await api.DELETE('/api/v1/users/{id}', { params: { path: { id } } })
    navigate('admin/users', { replace: true })
  }
  const { ask, dialog } = useConfirm({
    title: t('users.delete'),
    text: t('users.deleteText', { name: data?.username ?? '' }),
    action: t('action.delete'),
    onConfirm: remove,
  })
  const mayPreview = can('UsersWrite') && !isOwn && data?.isActive
  return (
    <AdminFrame
      title={data?.username ?? t('admin.users')}
      subtitle={data && t('users.since', { date: formatDate(data.createdAt) })}
      actions={mayPreview && <Button icon="visible" text={t('users.showAs')} onClick={showAs} />}
    >
      {error && !data && <ErrorState error={error} onRetry={reload} />}
      {data && (
        <div key={data.id} class="user-page">
          <AccountForm user={data} isOwn={isOwn} onSaved={reload} />
          <UserVisibility user={data} onSaved={reload} />
          {!isOwn && <PasswordForm id={id} />}
          {!isOwn && can('UsersDelete') && (
            <section class="card">
              <h2>{t('users.delete')}</h2>
              <p class="secondary-text">{t('users.deleteHint')}</p>
              <Button variant="danger" text={t('users.delete')} onClick={ask} />
            </section>
          )}
        </div>
      )}
      {dialog}
    </AdminFrame>
  )
}

type AccountFormProps = { user: User; isOwn: boolean; onSaved: () => void }

function AccountForm({ user, isOwn, onSaved }: AccountFormProps) {
  const { username, email, role } = user
  const [draft, setDraft] = useState<AccountDraft>({ username, email, role })
  const [isActive, setActive] = useState(user.isActive)
  const { isEdited, setSaved } = useEdited([draft, isActive])
  useUnsaved(isEdited)
  const save = async () => {
    const { role, ...changes } = draft
    const request = { ...changes, ...(!isOwn && { role, isActive }) }
    await api.PATCH('/api/v1/users/{id}', { params: { path: { id: user.id } }, body: request })
    setSaved()
    onSaved()
    showNotice(t('action.saved'))
  }
  return (
    <section class="card">
      <h2>{t('account.title')}</h2>
      <Form onSubmit={save} submit={t('action.save')}>
        <AccountFields
          draft={draft}
          isRoleFixed={isOwn}
          onChange={changes => setDraft(draft => ({ ...draft, ...changes }))}
        />
        <Switch
          label={t('users.active')}
          hint={t('users.activeHint')}
          checked={isActive}
          disabled={isOwn}
          onChange={setActive}
        />
      </Form>
    </section>
  )
}

function PasswordForm({ id }: { id: string }) {
  const { value: password, onInput } = useInput()
  useUnsaved(password !== '')
  const save = async () => {
    await api.PATCH('/api/v1/users/{id}', { params: { path: { id } }, body: { password } })
    onInput('')
    showNotice(t('users.passwordSet'))
  }
  return (
    <section class="card">
      <h2>{t('users.setPassword')}</h2>
      <Form onSubmit={save}>
        <NewPasswordField
          label={t('account.newPassword')}
          hint={t('users.setPasswordHint')}
          value={password}
          onInput={onInput}
        />
        <Button type="submit" text={t('users.setPassword')} />
      </Form>
    </section>
  )
}

type UserVisibilityProps = { user: User; onSaved: () => void }

/** Libraries, age limit, sharing tags. */
function UserVisibility({ user, onSaved }: UserVisibilityProps) {
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
          options={optionsOf(['none', 'allow', 'deny'] as const, value =>
            t(`users.sharing.${value}`),
          )}
          onChange={mode => void change(id, mode)}
        />
      ))}
    </div>
  )
}
