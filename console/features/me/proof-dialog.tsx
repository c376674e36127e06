import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { atField, PROOF_CODES } from '#console/ui/at-field.ts'
import { FormDialog } from '#console/ui/form-dialog.tsx'
import { useSubmit } from '#console/ui/use-submit.ts'
import type { ProofOnly } from '#write-api/contract/credentials.ts'
import { isProof, ProofFields } from './proof-fields.tsx'

/** An act that needs a proof of who asks. `act` closes the dialog, or throws when refused. */
export function ProofDialog(props: {
  title: string
  lead: string
  submitText: string
  tone?: 'primary' | 'danger'
  act: (proof: ProofOnly) => Promise<void>
  onClose: () => void
}): ReactElement {
  const { t } = useTranslation()
  const [proof, setProof] = useState<ProofOnly>({})
  const [fault, setFault] = useState('')
  const { isBusy, submit } = useSubmit(async () => {
    if (!isProof(proof)) return setFault(t('security.proofNeeded'))
    await atField(PROOF_CODES, setFault, () => props.act(proof))
  })
  return (
    <FormDialog
      isOpen
      title={props.title}
      lead={props.lead}
      submitText={props.submitText}
      tone={props.tone ?? 'primary'}
      isBusy={isBusy}
      onSubmit={() => void submit()}
      onClose={props.onClose}
    >
      <ProofFields
        proof={proof}
        error={fault}
        onProved={props.act}
        onChange={(next) => {
          setProof(next)
          setFault('')
        }}
      />
    </FormDialog>
  )
}
