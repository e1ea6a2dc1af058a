// Sign-in above the page after the session ended by itself: what was typed into forms is still there.
import { useState } from 'preact/hooks'
import { ApiError } from '../api/errors.ts'
import { account, endSession, hasEnded, resumeSession } from '../api/session.ts'
import { discardBefore } from '../routing/unsaved.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.ts'
import { Dialog } from '../ui/dialog.ts'
import { TextField } from '../ui/field.ts'
import { Form } from '../ui/form.ts'
import { h } from '../ui/h.ts'

export function SignInAgain() {
  return hasEnded.value ? h(SignInDialog, { username: account.value?.username ?? '' }) : null
}

function SignInDialog({ username }: { username: string }) {
  const [password, setPassword] = useState('')
  const signIn = () =>
    resumeSession({ username, password }).catch(error => {
      throw isRefused(error) ? new ApiError(401, t('signIn.refused')) : error
    })
  return h(
    Dialog,
    { title: t('session.ended'), class: 'sign-in-again', onClose: () => discardBefore(endSession) },
    h(
      Form,
      { onSubmit: signIn },
      h('p', { class: 'secondary-text' }, t('session.endedText')),
      h(TextField, {
        label: t('signIn.name'),
        autocomplete: 'username',
        readOnly: true,
        value: username,
      }),
      h(TextField, {
        label: t('signIn.password'),
        type: 'password',
        autocomplete: 'current-password',
        required: true,
        autofocus: true,
        value: password,
        onInput: setPassword,
      }),
      h(Button, { type: 'submit', variant: 'primary' }, t('signIn.submit')),
    ),
  )
}

const isRefused = (error: unknown) => error instanceof ApiError && error.status === 401
