import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import type { AccountDraft, AccountFault } from './account-draft.ts'
import { FormField } from './form-field.tsx'
import { PasswordInput, TextInput } from './inputs.tsx'

/** The fields of a new account (name, password, password again), for registration and setup. */
export function AccountFields(props: {
  draft: AccountDraft
  /** The group of translations that has the labels of the fields. */
  words: 'auth' | 'setup'
  faults: Partial<Record<keyof AccountDraft, AccountFault>>
  /** The server's error messages by field. */
  refused?: Partial<Record<keyof AccountDraft, string>>
  /** True to place the password fields side by side. */
  isWide?: boolean
  onChange: (patch: Partial<AccountDraft>) => void
}): ReactElement {
  const { t } = useTranslation()
  const { draft, words, faults, onChange } = props
  const faultOf = (field: keyof AccountDraft) => {
    const fault = faults[field]
    return fault === undefined ? props.refused?.[field] : t(`${words}.${fault}`)
  }
  const passwords = (['password', 'again'] as const).map((field) => (
    <FormField
      key={field}
      label={t(`${words}.${field}`)}
      hint={field === 'password' ? t(`${words}.passwordHint`) : undefined}
      error={faultOf(field)}
    >
      {(control) => (
        <PasswordInput
          {...control}
          name={field}
          autoComplete="new-password"
          value={draft[field]}
          onChange={(text) => onChange({ [field]: text })}
        />
      )}
    </FormField>
  ))
  return (
    <>
      <FormField
        label={t(`${words}.name`)}
        hint={t(`${words}.nameHint`)}
        error={faultOf('username')}
      >
        {(control) => (
          <TextInput
            {...control}
            name="username"
            autoComplete="username"
            autoFocus
            autoCapitalize="none"
            spellCheck={false}
            value={draft.username}
            onChange={(username) => onChange({ username })}
          />
        )}
      </FormField>
      {props.isWide === true ? <div className="tg-entry-pair">{passwords}</div> : passwords}
    </>
  )
}
