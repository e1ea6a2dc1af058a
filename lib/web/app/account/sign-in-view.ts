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
import { Button } from '../ui/button.ts'
import { TextField } from '../ui/field.ts'
import { h } from '../ui/h.ts'
import { useTitle } from '../ui/page-header.ts'

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
  // What is typed into the form would be lost.
  if (setup.isLoading || setup.data?.setupRequired) return null
  return h(
    'main',
    { class: 'plain-page' },
    h('img', {
      class: 'plain-logo',
      src: assetUrl('icons/icon.svg'),
      alt: '',
    }),
    h('h1', null, t('signIn.title')),
    h(
      'form',
      {
        class: 'form',
        onSubmit: event => {
          event.preventDefault()
          void submit()
        },
      },
      h(TextField, {
        label: t('signIn.name'),
        autocomplete: 'username',
        autofocus: true,
        required: true,
        value: username,
        onInput: setUsername,
      }),
      h(TextField, {
        label: t('signIn.password'),
        type: 'password',
        autocomplete: 'current-password',
        required: true,
        value: password,
        onInput: setPassword,
      }),
      error && h('p', { class: 'form-error', role: 'alert' }, error),
      h(Button, { type: 'submit', variant: 'primary' }, t('signIn.submit')),
    ),
    setup.data?.registrationEnabled && h('a', { href: href('register') }, t('register.title')),
  )
}

/** The address from which the reader was sent here; only paths of the application. */
const returnPath = () => pathOfUrl(address.value.query.get('from') ?? '') ?? ''
