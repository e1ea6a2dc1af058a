// Page of the signed-in account: email address, password, appearance, visible content.
import { useState } from 'preact/hooks'
import { api, type Schemas } from '../api/client.ts'
import { preview } from '../api/preview.ts'
import { useGet } from '../api/resource.ts'
import { loadAccount } from '../api/session.ts'
import { useUnsaved } from '../routing/unsaved.ts'
import { LanguageSelect, ThemeSelect } from '../shell/appearance.tsx'
import { formatDate, t, textOr } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { EmailField, NewPasswordField, PasswordField, useInput } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { ErrorState } from '../ui/state.tsx'
import { showNotice } from '../ui/toast.tsx'
import { AccountFrame } from './account-frame.tsx'

export function View() {
  const { data, error, reload } = useGet('/api/v1/user')
  return (
    <AccountFrame title={t('account.title')}>
      {error && !data && <ErrorState error={error} onRetry={reload} />}
      {data && (
        <div class="account-grid">
          <ProfileForm profile={data} onChange={reload} />
          <PasswordForm />
          <Appearance />
          <Visibility profile={data} />
        </div>
      )}
    </AccountFrame>
  )
}

type ProfileFormProps = { profile: Schemas['Profile']; onChange: () => void }

function ProfileForm({ profile, onChange }: ProfileFormProps) {
  const [email, setEmail] = useState(profile.email)
  useUnsaved(email !== profile.email)
  const save = async () => {
    await api.PATCH('/api/v1/user', { body: { email } })
    onChange()
    await loadAccount()
    showNotice(t('action.saved'))
  }
  return (
    <section class="card">
      <h2>{profile.username}</h2>
      <p class="secondary-text">{textOr(`role.${profile.role}`, profile.role)}</p>
      <Form onSubmit={save}>
        <EmailField value={email} onInput={setEmail} />
        <Button type="submit" disabled={email === profile.email || preview.value !== null}>
          {t('action.save')}
        </Button>
      </Form>
    </section>
  )
}

function PasswordForm() {
  const current = useInput()
  const next = useInput()
  useUnsaved(current.value !== '' || next.value !== '')
  const save = async () => {
    const passwords = { currentPassword: current.value, newPassword: next.value }
    await api.PUT('/api/v1/user/password', { body: passwords })
    current.onInput('')
    next.onInput('')
    showNotice(t('account.passwordChanged'))
  }
  return (
    <section class="card">
      <h2>{t('account.password')}</h2>
      <Form onSubmit={save}>
        <PasswordField label={t('account.currentPassword')} {...current} />
        <NewPasswordField label={t('account.newPassword')} {...next} />
        <Button type="submit" disabled={preview.value !== null}>
          {t('account.changePassword')}
        </Button>
      </Form>
    </section>
  )
}

function Appearance() {
  return (
    <section class="card form">
      <h2>{t('account.appearance')}</h2>
      <ThemeSelect />
      <LanguageSelect />
      <p class="field-hint">{t('account.appearanceHint')}</p>
    </section>
  )
}

function Visibility({ profile }: { profile: Schemas['Profile'] }) {
  const { libraryIds, ageLimit, sharingTags, lastLoginAt, createdAt } = profile
  const facts = [
    [
      t('nav.libraries'),
      libraryIds === null
        ? t('account.allLibraries')
        : t('account.someLibraries', { count: libraryIds.length }),
    ],
    [t('users.ageLimit'), ageLimit === null ? t('users.noLimit') : String(ageLimit)],
    ...(sharingTags.length > 0
      ? [[t('field.sharing'), sharingTags.map(tag => tag.sharingTagName).join(', ')]]
      : []),
    [t('account.created'), formatDate(createdAt)],
    ...(lastLoginAt ? [[t('users.lastLogin'), formatDate(lastLoginAt, 'dateTime')]] : []),
  ]
  return (
    <section class="card">
      <h2>{t('account.visibility')}</h2>
      <dl class="facts">
        {facts.map(([name, value]) => [<dt key={name}>{name}</dt>, <dd>{value}</dd>])}
      </dl>
    </section>
  )
}
