import { QRCodeSVG } from 'qrcode.react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { FormDialog } from '#console/ui/dialogs/form-dialog.tsx'
import { CopyButton } from '#console/ui/elements/copy-button.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { IDENTITY_PROOF_ERRORS } from '#console/ui/forms/server-field-errors.ts'
import { errorsByCode, FieldError, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import type { NewTotpSecret } from '#write-api/contract/credentials.ts'

export function TotpSetupDialog(props: {
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
