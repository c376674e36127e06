import { QRCodeSVG } from 'qrcode.react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { saveFile } from '#console/ui/browser/save-file.ts'
import { Dialog } from '#console/ui/dialogs/dialog.tsx'
import { FormDialog } from '#console/ui/dialogs/form-dialog.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { CopyButton, copyText } from '#console/ui/elements/copy-to-clipboard.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { IDENTITY_PROOF_ERRORS } from '#console/ui/forms/server-field-errors.ts'
import { errorsByCode, FieldError, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { IdentityProofDialog } from '#console/ui/identity-proof/identity-proof-fields.tsx'
import { useSiteName } from '#console/ui/layout/page.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'
import type { OwnPasskey } from '#read-api/contract/credentials.ts'
import type { NewTotpSecret, ProofOnly } from '#write-api/contract/credentials.ts'
import { PasskeyDialog } from './passkey-rows-and-dialog.tsx'

/**
 * Shows the recovery codes. The codes are never shown again. Only the button at the bottom
 * therefore closes the dialog, and a click outside does not.
 */
function CodesDialog(props: { codes: readonly string[]; onClose: () => void }) {
  const { t } = useTranslation()
  const site = useSiteName()
  const text = `${props.codes.join('\n')}\n`
  const copy = async () => {
    if (await copyText(text)) showSuccess(t('credentials.codesCopied'))
  }
  return (
    <Dialog
      isOpen
      title={t('credentials.recovery')}
      foot={
        <Button tone="primary" onClick={props.onClose}>
          {t('credentials.codesSaved')}
        </Button>
      }
      onClose={() => {}}
    >
      <div className="tg-dialog-body">
        <p>{t('credentials.codesLead')}</p>
        <ul className="tg-me-codes tg-mono">
          {props.codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ul>
        <div className="tg-actions">
          <Button size="small" icon="copy" onClick={() => void copy()}>
            {t('ui.copy')}
          </Button>
          <Button
            size="small"
            icon="download"
            onClick={() =>
              saveFile(new Blob([text], { type: 'text/plain' }), `${site} recovery.txt`)
            }
          >
            {t('credentials.downloadCodes')}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

export type TwoStepDialog =
  | { readonly kind: 'begin-totp' | 'disable-totp' | 'new-codes' }
  | { readonly kind: 'totp'; readonly offer: NewTotpSecret }
  | { readonly kind: 'codes'; readonly codes: readonly string[] }
  | { readonly kind: 'passkey'; readonly passkeyToRename: OwnPasskey | null }
  | { readonly kind: 'remove-passkey'; readonly passkey: OwnPasskey }

type Props = {
  dialog: TwoStepDialog | null
  needsProof: boolean
  onOpen: (dialog: TwoStepDialog) => void
  onClose: () => void
  /** Receives the recovery codes that were created, or an empty list if none were created. */
  onSettled: (codes: readonly string[]) => Promise<void>
}

export function TwoStepDialogs(props: Props) {
  const { dialog, needsProof, onClose, onSettled } = props
  if (dialog === null) return null
  const settle = (codes: string[]) => void onSettled(codes)
  switch (dialog.kind) {
    case 'totp':
      return <TotpSetupDialog offer={dialog.offer} onDone={settle} onClose={onClose} />
    case 'codes':
      return <CodesDialog codes={dialog.codes} onClose={onClose} />
    case 'passkey':
      return (
        <PasskeyDialog
          passkeyToRename={dialog.passkeyToRename}
          needsProof={needsProof}
          onDone={settle}
          onClose={onClose}
        />
      )
    default:
      return <IdentityProofForm {...props} dialog={dialog} />
  }
}

type ConfirmedDialog = Exclude<TwoStepDialog, { kind: 'totp' | 'codes' | 'passkey' }>

function IdentityProofForm({
  dialog,
  onOpen,
  onClose,
  onSettled,
}: Props & { dialog: ConfirmedDialog }) {
  const { t } = useTranslation()
  const proofDialog = (
    texts: { title: string; lead: string; submitText: string; tone?: 'danger' },
    perform: (proof: ProofOnly) => Promise<void>,
  ) => <IdentityProofDialog key={dialog.kind} {...texts} perform={perform} onClose={onClose} />
  switch (dialog.kind) {
    case 'begin-totp':
      return proofDialog(
        {
          title: t('credentials.totpSetUp'),
          lead: t('credentials.proofLead'),
          submitText: t('credentials.continue'),
        },
        async (proof) =>
          onOpen({ kind: 'totp', offer: await call('POST /api/user/totp/begin', { body: proof }) }),
      )
    case 'disable-totp':
      return proofDialog(
        {
          title: t('credentials.turnOffTotp'),
          lead: t('credentials.turnOffLead'),
          submitText: t('credentials.turnOff'),
          tone: 'danger',
        },
        async (proof) => {
          await call('POST /api/user/totp/disable', { body: proof })
          await onSettled([])
        },
      )
    case 'new-codes':
      return proofDialog(
        {
          title: t('credentials.newCodes'),
          lead: t('credentials.newCodesLead'),
          submitText: t('credentials.newCodes'),
        },
        async (proof) => {
          const { recovery_codes } = await call('POST /api/user/recovery_codes', { body: proof })
          await onSettled(recovery_codes)
        },
      )
    case 'remove-passkey':
      return proofDialog(
        {
          title: t('credentials.removePasskey'),
          lead: t('credentials.removeLead', { name: dialog.passkey.name }),
          submitText: t('credentials.remove'),
          tone: 'danger',
        },
        async (proof) => {
          await call('POST /api/user/passkeys/remove', {
            body: { id: dialog.passkey.id, ...proof },
          })
          await onSettled([])
        },
      )
  }
}

function TotpSetupDialog(props: {
  offer: NewTotpSecret
  onDone: (recoveryCodes: string[]) => void
  onClose: () => void
}) {
  const { t } = useTranslation()
  const { secret, uri } = props.offer
  const form = useDraftForm({
    initial: () => ({ code: '' }),
    save: async ({ code }) => {
      const isComplete = /^\d{6}$/.test(code.replace(/\s/g, ''))
      if (!isComplete) throw new FieldError({ code: t('credentials.sixDigits') })
      props.onDone(await confirmTotp(code))
    },
    errorsOf: errorsByCode({ code: IDENTITY_PROOF_ERRORS }),
  })
  return (
    <FormDialog
      isOpen
      title={t('credentials.totpSetUp')}
      lead={t('credentials.totpScan')}
      submitText={t('credentials.turnOn')}
      form={form}
      onClose={props.onClose}
    >
      <div className="tg-me-qr">
        <QRCodeSVG value={uri} size={176} marginSize={3} title={t('credentials.qrCode')} />
      </div>
      <div className="tg-me-secret">
        <code className="tg-mono">{secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
        <CopyButton text={secret} label={t('credentials.copySecret')} />
      </div>
      <TextField
        label={t('credentials.appCode')}
        isRequired
        autoComplete="one-time-code"
        inputMode="numeric"
        isMono
        maxLength={10}
        {...form.field('code')}
      />
    </FormDialog>
  )
}

/**
 * Enables an authenticator app (TOTP) as a second factor. If the account had no second factor
 * before, the server creates recovery codes. Returns these codes, or an empty list.
 */
const confirmTotp = async (code: string): Promise<string[]> =>
  (await call('POST /api/user/totp', { body: { code } })).recovery_codes
