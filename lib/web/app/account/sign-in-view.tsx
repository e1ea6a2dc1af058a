// Sign-in page.
import { useEffect, useState } from 'preact/hooks'
import { assetUrl } from '../api/assets.ts'
import { api, body } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import { useGet } from '../api/resource.ts'
import { account, startSession } from '../api/session.ts'
import { address, href, navigate, pathOfUrl } from '../routing/router.ts'
import { messageOf } from '../text/error-message.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { PasswordField, TextField, useInput } from '../ui/field.tsx'
import { FormError } from '../ui/form.tsx'
import { useTitle } from '../ui/page-header.tsx'

export function View() {
  const username = useInput()
  const password = useInput()
  const [error, setError] = useState('')
  useTitle(t('signIn.title'))
  const setup = useGet('/api/v1/setup/status')
  useEffect(() => {
    if (setup.data?.setupRequired) navigate('setup', { replace: true })
  }, [setup.data])
  // Signed in here or in another tab.
  const isDone = account.value !== null
  useEffect(() => {
    if (isDone) navigate(returnPath(), { replace: true })
  }, [isDone])
  const submit = async () => {
    setError('')
    try {
      const credentials = { username: username.value, password: password.value }
      await startSession(await body(api.POST('/api/v1/auth/login', { body: credentials })))
    } catch (error) {
      const isRefused = error instanceof ApiError && error.status === 401
      setError(isRefused ? t('signIn.refused') : messageOf(error))
    }
  }
  // A new page would lose what is typed into the form.
  if (setup.isLoading || setup.data?.setupRequired) return null
  return (
    <main class="plain-page">
      <img class="plain-logo" src={assetUrl('icons/icon.svg')} alt="" />
      <h1>{t('signIn.title')}</h1>
      <form
        class="form"
        onSubmit={event => {
          event.preventDefault()
          void submit()
        }}
      >
        <TextField
          label={t('signIn.name')}
          autocomplete="username"
          autofocus
          required
          {...username}
        />
        <PasswordField {...password} />
        <FormError text={error} />
        <Button type="submit" variant="primary" text={t('signIn.title')} />
      </form>
      {setup.data?.registrationEnabled && <a href={href('register')}>{t('register.title')}</a>}
    </main>
  )
}

/** The address from which the reader was sent here; only paths of the application. */
const returnPath = () => pathOfUrl(address.value.query.get('from') ?? '') ?? ''
