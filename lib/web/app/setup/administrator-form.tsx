// Form for the first administrator. From another machine the server requires its setup token.
import { useState } from 'preact/hooks'
import { api, body } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import { startSession } from '../api/session.ts'
import { t } from '../text/translate.ts'
import { EmailField, NewPasswordField } from '../ui/account-fields.tsx'
import { Switch, TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'

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
      // Another device may have completed the setup.
      if (error instanceof ApiError && error.status === 409) return onDone()
      if (!(error instanceof ApiError) || error.status !== 403) throw error
      setRefused(Boolean(setupToken))
      setToken(setupToken ?? '')
      return
    }
    onDone()
  }
  return (
    <>
      <header class="setup-header">
        <h1>{t('setup.welcome')}</h1>
        <p class="secondary-text">{t('setup.administratorText')}</p>
      </header>
      <Form onSubmit={create} submit={t('account.create')}>
        {token !== null && <TokenField token={token} isRefused={isRefused} onInput={setToken} />}
        <TextField
          label={t('account.name')}
          name="username"
          value={username}
          required
          maxLength={100}
          pattern="[^:]+"
          title={t('setup.usernameHint')}
          autocomplete="username"
          autocapitalize="none"
          autofocus
          onInput={setUsername}
        />
        <EmailField name="email" value={email} onInput={setEmail} />
        <NewPasswordField
          name="password"
          type={isShown ? 'text' : 'password'}
          value={password}
          onInput={setPassword}
        />
        <Switch label={t('setup.showPassword')} checked={isShown} onChange={setShown} />
      </Form>
    </>
  )
}

type TokenFieldProps = { token: string; isRefused: boolean; onInput: (token: string) => void }

function TokenField({ token, isRefused, onInput }: TokenFieldProps) {
  return (
    <div class="stack setup-token" role="alert">
      <p>{t('setup.tokenText')}</p>
      <pre dir="ltr">Setup token (single use, …): ••••••••</pre>
      <TextField
        label={t('setup.token')}
        name="setup-token"
        value={token}
        required
        dir="ltr"
        autocomplete="off"
        spellcheck={false}
        autofocus
        {...(isRefused && { error: t('setup.tokenRefused') })}
        onInput={onInput}
      />
    </div>
  )
}
