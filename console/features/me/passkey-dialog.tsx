import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { makePasskey } from '#console/api/auth/passkeys.ts'
import { call } from '#console/api/client.ts'
import { atField, PROOF_CODES } from '#console/ui/at-field.ts'
import { FormDialog } from '#console/ui/form-dialog.tsx'
import { FormField } from '#console/ui/form-field.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { useSubmit } from '#console/ui/use-submit.ts'
import type { OwnPasskey } from '#read-api/contract/credentials.ts'
import type { AddPasskey, ProofOnly } from '#write-api/contract/credentials.ts'
import { deviceName } from './device-name.ts'
import { isProof, ProofFields } from './proof-fields.tsx'
import { proven } from './proven.tsx'

/** A new passkey and its name; or, with `renamed`, another name for one. */
export function PasskeyDialog(props: {
  renamed: OwnPasskey | null
  /** Whether a proof has to come with it. */
  needsProof: boolean
  onDone: (recoveryCodes: string[]) => void
  onClose: () => void
}): ReactElement {
  const { t } = useTranslation()
  const { renamed } = props
  const needsProof = props.needsProof && renamed === null
  const [name, setName] = useState(renamed?.name ?? deviceName(navigator.userAgent))
  const [proof, setProof] = useState<ProofOnly>({})
  const [fault, setFault] = useState<{ name?: string; proof?: string }>({})
  const { isBusy, submit } = useSubmit(async () => {
    if (name.trim() === '') return setFault({ name: t('security.nameNeeded') })
    if (needsProof && !isProof(proof)) return setFault({ proof: t('security.proofNeeded') })
    if (renamed !== null) {
      await call('PUT /api/user/passkeys', { body: { id: renamed.id, name: name.trim() } })
      return props.onDone([])
    }
    await atField(
      PROOF_CODES,
      (words) => setFault({ proof: words }),
      () => add(proof),
    )
  })
  const add = async (shown: ProofOnly) => {
    if (name.trim() === '') return setFault({ name: t('security.nameNeeded') })
    const passkey = await makePasskey(
      await proven(() => call('POST /api/user/passkeys/begin', { body: shown })),
    )
    props.onDone(await addPasskey({ name: name.trim(), passkey }))
  }
  return (
    <FormDialog
      isOpen
      title={renamed === null ? t('security.addPasskey') : t('security.renamePasskey')}
      lead={renamed === null ? t('security.addPasskeyLead') : undefined}
      submitText={renamed === null ? t('security.continue') : t('security.rename')}
      isBusy={isBusy}
      onSubmit={() => void submit()}
      onClose={props.onClose}
    >
      <FormField label={t('security.passkeyName')} error={fault.name} isRequired>
        {(control) => (
          <TextInput
            {...control}
            maxLength={60}
            value={name}
            onChange={(value) => {
              setName(value)
              setFault({})
            }}
          />
        )}
      </FormField>
      {needsProof && (
        <ProofFields
          proof={proof}
          error={fault.proof ?? ''}
          onProved={add}
          onChange={(next) => {
            setProof(next)
            setFault({})
          }}
        />
      )}
    </FormDialog>
  )
}

/** Answers the recovery codes that came with it; none where there were some. */
const addPasskey = async (body: AddPasskey): Promise<string[]> =>
  (await call('POST /api/user/passkeys', { body })).recovery_codes
