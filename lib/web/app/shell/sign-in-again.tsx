// Sign-in dialog after the session expired; forms keep what was typed.
import { useState } from 'preact/hooks'
import { ApiError } from '../api/errors.ts'
import { account, endSession, hasEnded, resumeSession } from '../api/session.ts'
import { discardBefore } from '../routing/unsaved.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'

export function SignInAgain() {
  return hasEnded.value ? <SignInDialog username={account.value?.username ?? ''} /> : null
}

function SignInDialog({ username }: { username: string }) {
  const [password, setPassword] = useState('')
  const signIn = () =>
    resumeSession({ username, password }).catch(error => {
      throw isRefused(error) ? new ApiError(401, t('signIn.refused')) : error
    })
  return (
    <Dialog
      title={t('session.ended')}
      class="sign-in-again"
      onClose={() => discardBefore(endSession)}
    >
      <Form onSubmit={signIn}>
        <p class="secondary-text">{t('session.endedText')}</p>
        <TextField label={t('signIn.name')} autocomplete="username" readOnly value={username} />
        <TextField
          label={t('account.password')}
          type="password"
          autocomplete="current-password"
          required
          autofocus
          value={password}
          onInput={setPassword}
        />
        <Button type="submit" variant="primary">
          {t('signIn.title')}
        </Button>
      </Form>
    </Dialog>
  )
}

const isRefused = (error: unknown) => error instanceof ApiError && error.status === 401
