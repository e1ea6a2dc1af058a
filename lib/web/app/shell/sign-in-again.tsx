// Sign-in dialog after the session expired; forms keep what was typed.
import { ApiError } from '../api/errors.ts'
import { account, endSession, hasEnded, resumeSession } from '../api/session.ts'
import { discardBefore } from '../routing/unsaved.ts'
import { t } from '../text/translate.ts'
import { PasswordField } from '../ui/account-fields.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField, useInput } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'

export function SignInAgain() {
  return hasEnded.value ? <SignInDialog username={account.value?.username ?? ''} /> : null
}

function SignInDialog({ username }: { username: string }) {
  const password = useInput()
  const signIn = () =>
    resumeSession({ username, password: password.value }).catch(error => {
      throw isRefused(error) ? new ApiError(401, t('signIn.refused')) : error
    })
  return (
    <Dialog
      title={t('session.ended')}
      class="sign-in-again"
      onClose={() => discardBefore(endSession)}
    >
      <Form onSubmit={signIn} submit={t('signIn.title')}>
        <p class="secondary-text">{t('session.endedText')}</p>
        <TextField label={t('signIn.name')} autocomplete="username" readOnly value={username} />
        <PasswordField autofocus {...password} />
      </Form>
    </Dialog>
  )
}

const isRefused = (error: unknown) => error instanceof ApiError && error.status === 401
