// Page of the signed-in account: e-mail address, password, appearance, what it may see.

import { useState } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { preview } from '../api/preview.ts'
import { useResource } from '../api/resource.ts'
import { loadAccount } from '../api/session.ts'
import { useUnsaved } from '../routing/unsaved.ts'
import { LanguageSelect, ThemeSelect } from '../shell/appearance.ts'
import { formatDate, t, textOr } from '../text/translate.ts'
import { Button } from '../ui/button.ts'
import { ErrorState } from '../ui/error-state.ts'
import { TextField } from '../ui/field.ts'
import { Form } from '../ui/form.ts'
import { h } from '../ui/h.ts'
import { showNotice } from '../ui/toast.ts'
import { AccountFrame } from './account-frame.ts'
import { NewPasswordField } from './password-field.ts'

export function View() {
  const profile = useResource('user', signal => body(api.GET('/api/v1/user', { signal })))
  const { data, error, reload } = profile
  return h(
    AccountFrame,
    { title: t('account.title') },
    error && !data && h(ErrorState, { error, onRetry: reload }),
    data &&
      h(
        'div',
        { class: 'account-grid' },
        h(ProfileForm, { profile: data, onChange: reload }),
        h(PasswordForm, null),
        h(Appearance, null),
        h(Visibility, { profile: data }),
      ),
  )
}

type ProfileFormProps = {
  profile: Schemas['Profile']
  onChange: () => void
}

function ProfileForm({ profile, onChange }: ProfileFormProps) {
  const [email, setEmail] = useState(profile.email)
  useUnsaved(email !== profile.email)
  const save = async () => {
    await api.PATCH('/api/v1/user', { body: { email } })
    onChange()
    await loadAccount()
    showNotice(t('action.saved'))
  }
  return h(
    'section',
    { class: 'card' },
    h('h2', null, profile.username),
    h('p', { class: 'secondary-text' }, textOr(`role.${profile.role}`, profile.role)),
    h(
      Form,
      { onSubmit: save },
      h(TextField, {
        label: t('account.email'),
        type: 'email',
        autocomplete: 'email',
        required: true,
        value: email,
        onInput: setEmail,
      }),
      h(
        Button,
        { type: 'submit', disabled: email === profile.email || preview.value !== null },
        t('action.save'),
      ),
    ),
  )
}

function PasswordForm() {
  const [currentPassword, setCurrent] = useState('')
  const [newPassword, setNew] = useState('')
  useUnsaved(currentPassword !== '' || newPassword !== '')
  const save = async () => {
    await api.PUT('/api/v1/user/password', { body: { currentPassword, newPassword } })
    setCurrent('')
    setNew('')
    showNotice(t('account.passwordChanged'))
  }
  return h(
    'section',
    { class: 'card' },
    h('h2', null, t('account.password')),
    h(
      Form,
      { onSubmit: save },
      h(TextField, {
        label: t('account.currentPassword'),
        type: 'password',
        autocomplete: 'current-password',
        required: true,
        value: currentPassword,
        onInput: setCurrent,
      }),
      h(NewPasswordField, {
        label: t('account.newPassword'),
        value: newPassword,
        onInput: setNew,
      }),
      h(Button, { type: 'submit', disabled: preview.value !== null }, t('account.changePassword')),
    ),
  )
}

function Appearance() {
  return h(
    'section',
    { class: 'card form' },
    h('h2', null, t('account.appearance')),
    h(ThemeSelect, null),
    h(LanguageSelect, null),
    h('p', { class: 'field-hint' }, t('account.appearanceHint')),
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
      ? [[t('users.sharingTags'), sharingTags.map(tag => tag.sharingTagName).join(', ')]]
      : []),
    [t('account.created'), formatDate(createdAt)],
    ...(lastLoginAt ? [[t('users.lastLogin'), formatDate(lastLoginAt, 'dateTime')]] : []),
  ]
  return h(
    'section',
    { class: 'card' },
    h('h2', null, t('account.visibility')),
    h(
      'dl',
      { class: 'facts' },
      facts.map(([name, value]) => [h('dt', { key: name }, name), h('dd', null, value)]),
    ),
  )
}
