// Field for a new password.
import { t } from '../text/translate.ts'
import { TextField } from '../ui/field.tsx'

type NewPasswordFieldProps = {
  label: string
  hint?: string
  value: string
  onInput: (password: string) => void
}

export function NewPasswordField(props: NewPasswordFieldProps) {
  return (
    <TextField
      hint={t('account.passwordHint')}
      {...props}
      type="password"
      autocomplete="new-password"
      required
      minLength={8}
    />
  )
}
