import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { FormField } from '#console/ui/form-field.tsx'
import { TextInput } from '#console/ui/inputs.tsx'

const REASON_MAX = 200

/** Why a user is changed: kept with the change, for admins. */
export function ReasonField(props: {
  value: string
  error: string | undefined
  placeholder: string
  onChange: (reason: string) => void
}): ReactElement {
  const { t } = useTranslation()
  const { value, placeholder, onChange } = props
  return (
    <FormField
      label={t('users.reason')}
      hint={t('users.reasonHint')}
      error={props.error}
      isRequired
    >
      {(control) => (
        <TextInput
          {...control}
          autoComplete="off"
          maxLength={REASON_MAX}
          placeholder={placeholder}
          value={value}
          onChange={onChange}
        />
      )}
    </FormField>
  )
}
