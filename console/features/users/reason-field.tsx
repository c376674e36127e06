import { useTranslation } from 'react-i18next'
import { TextField } from '#console/ui/forms/fields.tsx'
import type { FieldState } from '#console/ui/forms/use-draft-form.ts'

export function ReasonField(props: FieldState<string> & { placeholder: string }) {
  const { t } = useTranslation()
  return (
    <TextField
      label={t('users.reason')}
      hint={t('users.reasonHint')}
      isRequired
      autoComplete="off"
      maxLength={200}
      {...props}
    />
  )
}
