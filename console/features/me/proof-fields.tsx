import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { FormField } from '#console/ui/form-field.tsx'
import { PasswordInput, TextInput } from '#console/ui/inputs.tsx'
import type { ProofOnly } from '#write-api/contract/credentials.ts'

export const isProof = ({ password = '', code = '' }: ProofOnly): boolean =>
  password !== '' || code.trim() !== ''

/** Shows once more who asks: by the password, or by a code of the app or a recovery code. */
export function ProofFields(props: {
  proof: ProofOnly
  onChange: (proof: ProofOnly) => void
  error: string
}): ReactElement {
  const { t } = useTranslation()
  const [isByCode, setByCode] = useState(false)
  const turn = () => {
    setByCode(!isByCode)
    props.onChange({})
  }
  return (
    <div className="tg-me-proof">
      <FormField
        label={isByCode ? t('security.codeOrRecovery') : t('security.yourPassword')}
        error={props.error}
        isRequired
      >
        {(control) =>
          isByCode ? (
            <TextInput
              {...control}
              autoComplete="one-time-code"
              autoCapitalize="none"
              spellCheck={false}
              isMono
              maxLength={40}
              value={props.proof.code ?? ''}
              onChange={(code) => props.onChange({ code })}
            />
          ) : (
            <PasswordInput
              {...control}
              autoComplete="current-password"
              value={props.proof.password ?? ''}
              onChange={(password) => props.onChange({ password })}
            />
          )
        }
      </FormField>
      <Button tone="quiet" size="small" onClick={turn}>
        {isByCode ? t('security.byPassword') : t('security.byCode')}
      </Button>
    </div>
  )
}
