// Sign-in page.

import { useEffect, useState } from 'preact/hooks'
import { assetUrl } from '../api/assets.ts'
import { api, body } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import { useResource } from '../api/resource.ts'
import { account, startSession } from '../api/session.ts'
import { address, href, navigate, pathOfUrl } from '../routing/router.ts'
import { messageOf } from '../text/error-message.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { useTitle } from '../ui/page-header.tsx'

export function View() {
  const [username, setUsername] = useState('')
  const [password, setPassword] = useState('')
  const [error, setError] = useState('')
  useTitle(t('signIn.title'))
  const setup = useResource('setup', signal => body(api.GET('/api/v1/setup/status', { signal })))
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
      const session = await body(api.POST('/api/v1/auth/login', { body: { username, password } }))
      await startSession(session)
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
          value={username}
          onInput={setUsername}
        />
        <TextField
          label={t('account.password')}
          type="password"
          autocomplete="current-password"
          required
          value={password}
          onInput={setPassword}
        />
        {error && (
          <p class="form-error" role="alert">
            {error}
          </p>
        )}
        <Button type="submit" variant="primary">
          {t('signIn.title')}
        </Button>
      </form>
      {setup.data?.registrationEnabled && <a href={href('register')}>{t('register.title')}</a>}
    </main>
  )
}

/** The address from which the reader was sent here; only paths of the application. */
const returnPath = () => pathOfUrl(address.value.query.get('from') ?? '') ?? ''
