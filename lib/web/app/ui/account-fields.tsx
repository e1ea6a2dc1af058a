// Fields of accounts: email address, password, new password.
import { t } from '../text/translate.ts'
import { TextField } from './field.tsx'

type AccountFieldProps = Omit<Parameters<typeof TextField>[0], 'label'> & { label?: string }

export const EmailField = (props: AccountFieldProps) => (
  <TextField label={t('account.email')} type="email" autocomplete="email" required {...props} />
)

export const PasswordField = (props: AccountFieldProps) => (
  <TextField
    label={t('account.password')}
    type="password"
    autocomplete="current-password"
    required
    {...props}
  />
)

export const NewPasswordField = (props: AccountFieldProps) => (
  <PasswordField
    hint={t('account.passwordHint')}
    autocomplete="new-password"
    minLength={8}
    {...props}
  />
)
