// Account fields for administrators: name, email address, role.
import type { Schemas } from '../api/client.ts'
import { roles } from '../api/enumerations.ts'
import { t } from '../text/translate.ts'
import { EmailField, Select, TextField } from '../ui/field.tsx'

export type Role = Schemas['Role']

export type AccountDraft = { username: string; email: string; role: Role }

type AccountFieldsProps = {
  draft: AccountDraft
  onChange: (changes: Partial<AccountDraft>) => void
  isRoleFixed?: boolean
}

export function AccountFields({ draft, onChange, isRoleFixed = false }: AccountFieldsProps) {
  const { username, email, role } = draft
  return (
    <>
      <TextField
        label={t('account.name')}
        required
        autocomplete="off"
        value={username}
        onInput={username => onChange({ username })}
      />
      <EmailField autocomplete="off" value={email} onInput={email => onChange({ email })} />
      <Select<Role>
        label={t('field.role')}
        hint={t(`role.${role}Hint`)}
        value={role}
        options={roles.map(value => ({ value, text: t(`role.${value}`) }))}
        disabled={isRoleFixed}
        onChange={role => onChange({ role })}
      />
    </>
  )
}
