import { useTranslation } from 'react-i18next'
import { FormDialog } from '#console/ui/dialogs/form-dialog.tsx'
import { IDENTITY_PROOF_ERRORS } from '#console/ui/forms/server-field-errors.ts'
import { errorsByCode, FieldError, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import type { ProofOnly } from '#write-api/contract/credentials.ts'
import { IdentityProofFields, isProof } from './identity-proof-fields.tsx'

/**
 * Asks users to prove their identity with a password, a code or a passkey. `perform` is called with
 * the proof, and throws if the server rejects it.
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
