// Registration of an account, where the administrator allows it.
import { useState } from 'preact/hooks'
import { api, body } from '../api/client.ts'
import { startSession } from '../api/session.ts'
import { href, navigate } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { EmailField, NewPasswordField, TextField, useInput } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { useTitle } from '../ui/page-header.tsx'

export function View() {
  const username = useInput()
  const email = useInput()
  const password = useInput()
  const [message, setMessage] = useState('')
  useTitle(t('register.title'))
  const submit = async () => {
    const request = { username: username.value, email: email.value, password: password.value }
    const response = await body(api.POST('/api/v1/auth/register', { body: request }))
    const { accessToken, refreshToken, expiresIn } = response
    if (accessToken === null || refreshToken === null || expiresIn === null)
      return setMessage(t('register.verify', { email: email.value }))
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
      <Form onSubmit={submit} submit={t('account.create')}>
        <TextField
          label={t('account.name')}
          autocomplete="username"
          required
          autofocus
          {...username}
        />
        <EmailField {...email} />
        <NewPasswordField {...password} />
      </Form>
      <a href={href('sign-in')}>{t('register.signIn')}</a>
    </main>
  )
}
