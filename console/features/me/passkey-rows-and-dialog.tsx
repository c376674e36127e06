import { useTranslation } from 'react-i18next'
import { arePasskeysSupported, createPasskey } from '#console/api/auth/browser-passkeys.ts'
import { call } from '#console/api/client.ts'
import { FormDialog } from '#console/ui/dialogs/form-dialog.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { IDENTITY_PROOF_ERRORS } from '#console/ui/forms/server-field-errors.ts'
import { errorsByCode, FieldError, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { IdentityProofFields, isProof } from '#console/ui/identity-proof/identity-proof-fields.tsx'
import { retryWithIdentityProof } from '#console/ui/identity-proof/retry-with-identity-proof.tsx'
import { deleteAction, editAction } from '#console/ui/lists/edit-delete-and-undo-actions.ts'
import { RowActions } from '#console/ui/lists/row-actions.tsx'
import type { OwnPasskey } from '#read-api/contract/credentials.ts'
import type { AddPasskey, ProofOnly } from '#write-api/contract/credentials.ts'
import { deviceName } from './device-name-from-user-agent.ts'

export function PasskeyRows(props: {
  passkeys: readonly OwnPasskey[]
  onAdd: () => void
  onRename: (passkey: OwnPasskey) => void
  onRemove: (passkey: OwnPasskey) => void
}) {
  const { t } = useTranslation()
  const arePasskeysUsable = arePasskeysSupported()
  return (
    <>
      <li>
        <div>
          <p className="tg-me-row-title">{t('credentials.passkeys')}</p>
          <p className="tg-hint">
            {arePasskeysUsable
              ? t('credentials.passkeysLead')
              : t('credentials.passkeysUnsupported')}
          </p>
        </div>
        <Button size="small" icon="add" isDisabled={!arePasskeysUsable} onClick={props.onAdd}>
          {t('credentials.addPasskey')}
        </Button>
      </li>
      {props.passkeys.map((passkey) => (
        <li key={passkey.id} className="tg-me-sub">
          <div>
            <p className="tg-me-row-title">{passkey.name}</p>
            <p className="tg-hint tg-me-facts">
              <span>
                {t('credentials.addedAt')} <Time at={passkey.created_at} />
              </span>
              <span>
                {passkey.used_at === null ? (
                  t('credentials.neverUsed')
                ) : (
                  <>
                    {t('shared.lastUsed')} <Time at={passkey.used_at} />
                  </>
                )}
              </span>
            </p>
          </div>
          <RowActions
            actions={[
              editAction(
                () => props.onRename(passkey),
                t('credentials.renameOf', { name: passkey.name }),
              ),
              deleteAction(
                () => props.onRemove(passkey),
                t('credentials.removeOf', { name: passkey.name }),
              ),
            ]}
          />
        </li>
      ))}
    </>
  )
}

export function PasskeyDialog(props: {
  passkeyToRename: OwnPasskey | null
  needsProof: boolean
  onDone: (recoveryCodes: string[]) => void
  onClose: () => void
}) {
  const { t } = useTranslation()
  const { passkeyToRename } = props
  const needsProof = props.needsProof && passkeyToRename === null
  const form = useDraftForm<{ name: string; proof: ProofOnly }>({
    initial: () => ({ name: passkeyToRename?.name ?? deviceName(navigator.userAgent), proof: {} }),
    save: async (draft) => {
      const name = draft.name.trim()
      if (name === '') throw new FieldError({ name: t('credentials.nameRequired') })
      if (needsProof && !isProof(draft.proof)) {
        throw new FieldError({ proof: t('credentials.proofRequired') })
      }
      if (passkeyToRename !== null) {
        await call('PUT /api/user/passkeys', { body: { id: passkeyToRename.id, name } })
        return props.onDone([])
      }
      const begin = () => call('POST /api/user/passkeys/begin', { body: draft.proof })
      const passkey = await createPasskey(await retryWithIdentityProof(begin))
      props.onDone(await addPasskey({ name, passkey }))
    },
    errorsOf: errorsByCode({ proof: IDENTITY_PROOF_ERRORS }),
  })
  return (
    <FormDialog
      isOpen
      title={
        passkeyToRename === null ? t('credentials.addPasskey') : t('credentials.renamePasskey')
      }
      lead={passkeyToRename === null ? t('credentials.addPasskeyLead') : undefined}
      submitText={passkeyToRename === null ? t('credentials.continue') : t('shared.save')}
      form={form}
      onClose={props.onClose}
    >
      <TextField label={t('shared.name')} isRequired maxLength={60} {...form.field('name')} />
      {needsProof && (
        <IdentityProofFields
          onProved={(proof) => form.submitWith({ proof })}
          {...form.field('proof')}
        />
      )}
    </FormDialog>
  )
}

/**
 * Adds a passkey to the account. If the account had no second factor before, the server creates
 * recovery codes. Returns these codes, or an empty list.
 */
const addPasskey = async (body: AddPasskey): Promise<string[]> =>
  (await call('POST /api/user/passkeys', { body })).recovery_codes
