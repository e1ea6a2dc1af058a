// Registration of an account, where the administrator allows it.
import { useState } from 'preact/hooks'
import { api, body } from '../api/client.ts'
import { startSession } from '../api/session.ts'
import { href, navigate } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.ts'
import { TextField } from '../ui/field.ts'
import { Form } from '../ui/form.ts'
import { h } from '../ui/h.ts'
import { useTitle } from '../ui/page-header.ts'
import { NewPasswordField } from './password-field.ts'

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
    return h(
      'main',
      { class: 'plain-page' },
      h('h1', null, t('register.title')),
      h('p', { role: 'status' }, message),
      h('a', { href: href('sign-in') }, t('signIn.title')),
    )
  return h(
    'main',
    { class: 'plain-page' },
    h('h1', null, t('register.title')),
    h(
      Form,
      { onSubmit: submit },
      h(TextField, {
        label: t('register.name'),
        autocomplete: 'username',
        required: true,
        autofocus: true,
        value: username,
        onInput: setUsername,
      }),
      h(TextField, {
        label: t('account.email'),
        type: 'email',
        autocomplete: 'email',
        required: true,
        value: email,
        onInput: setEmail,
      }),
      h(NewPasswordField, { label: t('signIn.password'), value: password, onInput: setPassword }),
      h(Button, { type: 'submit', variant: 'primary' }, t('register.submit')),
    ),
    h('a', { href: href('sign-in') }, t('register.signIn')),
  )
}
