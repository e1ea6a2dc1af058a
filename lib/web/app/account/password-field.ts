// Field for a new password.
import { t } from '../text/translate.ts'
import { TextField } from '../ui/field.ts'
import { h } from '../ui/h.ts'

type NewPasswordFieldProps = {
  label: string
  hint?: string
  value: string
  onInput: (password: string) => void
}

export function NewPasswordField(props: NewPasswordFieldProps) {
  return h(TextField, {
    hint: t('account.passwordHint'),
    ...props,
    type: 'password',
    autocomplete: 'new-password',
    required: true,
    minLength: 8,
  })
}
