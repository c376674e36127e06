import { useQuery } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { securityQuery, selfQuery } from '#console/api/account.ts'
import { Button } from '#console/ui/button.tsx'
import { FormField } from '#console/ui/form-field.tsx'
import { PasswordInput, TextInput } from '#console/ui/inputs.tsx'
import type { ProofOnly } from '#write-api/contract/credentials.ts'
import { PasskeyProof } from './passkey-proof.tsx'

export const isProof = ({ password = '', code = '' }: ProofOnly): boolean =>
  password !== '' || code.trim() !== ''

/** Shows once more who asks: by the password, a code of the app, a recovery code or a passkey. */
export function ProofFields(props: {
  proof: ProofOnly
  onChange: (proof: ProofOnly) => void
  error: string
  /** With a passkey there is nothing to fill in: it goes on at once. */
  onProved: (proof: ProofOnly) => Promise<void>
}): ReactElement {
  const { t } = useTranslation()
  const hasPassword = useQuery(selfQuery).data?.has_password !== false
  const security = useQuery(securityQuery).data
  const hasCodes = security?.totp_since !== null || security.recovery_codes > 0
  const [isByCode, setByCode] = useState(!hasPassword)
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
      <p className="tg-me-proof-ways">
        {hasPassword && hasCodes && (
          <Button tone="quiet" size="small" onClick={turn}>
            {isByCode ? t('security.byPassword') : t('security.byCode')}
          </Button>
        )}
        <PasskeyProof act={props.onProved} />
      </p>
    </div>
  )
}
