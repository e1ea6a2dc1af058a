// Registration of an account, where the administrator allows it.
import { useState } from 'preact/hooks'
import { api, body } from '../api/client.ts'
import { startSession } from '../api/session.ts'
import { href, navigate } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { useTitle } from '../ui/page-header.tsx'
import { NewPasswordField } from './password-field.tsx'

export function View() {
  const [username, setUsername] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [message, setMessage] = useState('')
  useTitle(t('register.title'))
  const submit = async () => {
    const response = await body(
      api.POST('/api/v1/auth/register', { body: { username, email, password } }),
    )
    const { accessToken, refreshToken, expiresIn } = response
    if (accessToken === null || refreshToken === null || expiresIn === null)
      return setMessage(t('register.verify', { email }))
    await startSession({ accessToken, refreshToken, expiresIn })
    navigate('', { replace: true })
  }
  if (message)
    return (
      <main class="plain-page">
        <h1>{t('register.title')}</h1>
        <p role="status">{message}</p>
        <a href={href('sign-in')}>{t('signIn.title')}</a>
      </main>
    )
  return (
    <main class="plain-page">
      <h1>{t('register.title')}</h1>
      <Form onSubmit={submit}>
        <TextField
          label={t('account.name')}
          autocomplete="username"
          required
          autofocus
          value={username}
          onInput={setUsername}
        />
        <TextField
          label={t('account.email')}
          type="email"
          autocomplete="email"
          required
          value={email}
          onInput={setEmail}
        />
        <NewPasswordField label={t('account.password')} value={password} onInput={setPassword} />
        <Button type="submit" variant="primary">
          {t('account.create')}
        </Button>
      </Form>
      <a href={href('sign-in')}>{t('register.signIn')}</a>
    </main>
  )
}
