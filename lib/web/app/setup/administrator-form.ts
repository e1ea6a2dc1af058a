// Form for the first administrator. From another machine the server requires the token that it printed.
import { useState } from 'preact/hooks'
import { api, body } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import { startSession } from '../api/session.ts'
import { t } from '../text/translate.ts'
import { Switch, TextField } from '../ui/field.ts'
import { Form } from '../ui/form.ts'
import { h } from '../ui/h.ts'

export function AdministratorForm({ onDone }: { onDone: () => void }) {
  const [username, setUsername] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [isShown, setShown] = useState(false)
  const [token, setToken] = useState<string | null>(null)
  const [isRefused, setRefused] = useState(false)
  const create = async () => {
    const fields = { username: username.trim(), email: email.trim(), password }
    const setupToken = token?.trim()
    try {
      const request = { ...fields, ...(setupToken && { setupToken }) }
      await startSession(await body(api.POST('/api/v1/setup/initialize', { body: request })))
    } catch (error) {
      // Another device may have been faster.
      if (error instanceof ApiError && error.status === 409) return onDone()
      if (!(error instanceof ApiError) || error.status !== 403) throw error
      setRefused(Boolean(setupToken))
      setToken(setupToken ?? '')
      return
    }
    onDone()
  }
  return [
    h(
      'header',
      { class: 'setup-header', key: 'header' },
      h('h1', null, t('setup.welcome')),
      h('p', { class: 'secondary-text' }, t('setup.administratorText')),
    ),
    h(
      Form,
      { onSubmit: create, key: 'form' },
      token !== null && h(TokenField, { token, isRefused, onInput: setToken }),
      h(TextField, {
        label: t('setup.username'),
        name: 'username',
        value: username,
        required: true,
        maxLength: 100,
        pattern: '[^:]+',
        title: t('setup.usernameHint'),
        autocomplete: 'username',
        autocapitalize: 'none',
        autofocus: true,
        onInput: setUsername,
      }),
      h(TextField, {
        label: t('setup.email'),
        name: 'email',
        type: 'email',
        value: email,
        required: true,
        autocomplete: 'email',
        onInput: setEmail,
      }),
      h(TextField, {
        label: t('setup.password'),
        name: 'password',
        hint: t('setup.passwordHint'),
        type: isShown ? 'text' : 'password',
        value: password,
        required: true,
        minLength: 8,
        autocomplete: 'new-password',
        onInput: setPassword,
      }),
      h(Switch, { label: t('setup.showPassword'), checked: isShown, onChange: setShown }),
      h('button', { class: 'button primary', type: 'submit' }, t('setup.create')),
    ),
  ]
}

type TokenFieldProps = { token: string; isRefused: boolean; onInput: (token: string) => void }

function TokenField({ token, isRefused, onInput }: TokenFieldProps) {
  return h(
    'div',
    { class: 'setup-token', role: 'alert' },
    h('p', null, t('setup.tokenText')),
    h('pre', { dir: 'ltr' }, 'Setup token (single use, …): ••••••••'),
    h(TextField, {
      label: t('setup.token'),
      name: 'setup-token',
      value: token,
      required: true,
      dir: 'ltr',
      autocomplete: 'off',
      spellcheck: false,
      autofocus: true,
      ...(isRefused && { error: t('setup.tokenRefused') }),
      onInput,
    }),
  )
}
