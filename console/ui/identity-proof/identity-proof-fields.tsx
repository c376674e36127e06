import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { credentialsQuery, selfQuery } from '#console/api/own-user-group-and-model-queries.ts'
import { FormDialog } from '#console/ui/dialogs/form-dialog.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { PasswordField, TextField } from '#console/ui/forms/fields.tsx'
import { PasskeyProofButton } from '#console/ui/forms/passkey-proof-button.tsx'
import { IDENTITY_PROOF_ERRORS } from '#console/ui/forms/server-field-errors.ts'
import { errorsByCode, FieldError, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import type { ProofOnly } from '#write-api/contract/credentials.ts'
import './identity-proof.css'

export const isProof = ({ password = '', code = '', passkey }: ProofOnly): boolean =>
  password !== '' || code.trim() !== '' || passkey !== undefined

export function IdentityProofFields(props: {
  value: ProofOnly
  onChange: (proof: ProofOnly) => void
  error: string | undefined
  /**
   * Called when the user has used a passkey. Other proofs are sent with the form's submit button.
   */
  onProved: (proof: ProofOnly) => Promise<void>
}) {
  const { value, error, onChange } = props
  const { t } = useTranslation()
  const hasPassword = useQuery(selfQuery).data?.has_password !== false
  const credentials = useQuery(credentialsQuery).data
  const hasCodes = credentials?.totp_since !== null || credentials.recovery_codes > 0
  const [isByCode, setByCode] = useState(!hasPassword)
  const switchMethod = () => {
    setByCode(!isByCode)
    onChange({})
  }
  return (
    <div>
      {isByCode ? (
        <TextField
          label={t('credentials.codeOrRecovery')}
          error={error}
          isRequired
          autoComplete="one-time-code"
          isMono
          maxLength={40}
          value={value.code ?? ''}
          onChange={(code) => onChange({ code })}
        />
      ) : (
        <PasswordField
          label={t('credentials.yourPassword')}
          error={error}
          isRequired
          autoComplete="current-password"
          value={value.password ?? ''}
          onChange={(password) => onChange({ password })}
        />
      )}
      <p className="tg-proof-methods">
        {hasPassword && hasCodes && (
          <Button tone="quiet" size="small" onClick={switchMethod}>
            {isByCode ? t('credentials.usePassword') : t('credentials.useCode')}
          </Button>
        )}
        <PasskeyProofButton perform={props.onProved} />
      </p>
    </div>
  )
}

/**
 * Asks users to prove their identity with a password, a code or a passkey. `perform` is called with
 * the proof, and throws if the server rejects the proof.
 */
export function IdentityProofDialog(props: {
  title: string
  lead: string
  submitText: string
  tone?: 'primary' | 'danger'
  perform: (proof: ProofOnly) => Promise<void>
  onClose: () => void
}) {
  const { t } = useTranslation()
  const form = useDraftForm<{ proof: ProofOnly }>({
    initial: () => ({ proof: {} }),
    save: async ({ proof }) => {
      if (!isProof(proof)) throw new FieldError({ proof: t('credentials.proofRequired') })
      await props.perform(proof)
    },
    errorsOf: errorsByCode({ proof: IDENTITY_PROOF_ERRORS }),
  })
  return (
    <FormDialog
      isOpen
      title={props.title}
      lead={props.lead}
      submitText={props.submitText}
      tone={props.tone ?? 'primary'}
      form={form}
      onClose={props.onClose}
    >
      <IdentityProofFields onProved={props.perform} {...form.field('proof')} />
    </FormDialog>
  )
}
