import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { FormField } from '#console/ui/form-field.tsx'
import { PasswordInput, TextInput } from '#console/ui/inputs.tsx'
import type { SetupDraft, SetupFault, SetupField } from './setup-draft.ts'

export function AccountFields(props: {
  draft: SetupDraft
  faults: Partial<Record<SetupField, SetupFault>>
  onChange: (patch: Partial<SetupDraft>) => void
}): ReactElement {
  const { t } = useTranslation()
  const { draft, faults, onChange } = props
  const wordsOf = (fault: SetupFault | undefined) =>
    fault === undefined ? '' : t(`setup.${fault}`)
  return (
    <>
      <FormField
        label={t('setup.username')}
        hint={t('setup.usernameHint')}
        error={wordsOf(faults.username)}
      >
        {(control) => (
          <TextInput
            {...control}
            name="username"
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            value={draft.username}
            onChange={(username) => onChange({ username })}
          />
        )}
      </FormField>
      <div className="tg-entry-pair">
        <FormField
          label={t('setup.password')}
          hint={t('setup.passwordHint')}
          error={wordsOf(faults.password)}
        >
          {(control) => (
            <PasswordInput
              {...control}
              name="password"
              autoComplete="new-password"
              value={draft.password}
              onChange={(password) => onChange({ password })}
            />
          )}
        </FormField>
        <FormField label={t('setup.confirmPassword')} error={wordsOf(faults.confirmPassword)}>
          {(control) => (
            <PasswordInput
              {...control}
              name="confirmPassword"
              autoComplete="new-password"
              value={draft.confirmPassword}
              onChange={(confirmPassword) => onChange({ confirmPassword })}
            />
          )}
        </FormField>
      </div>
    </>
  )
}
