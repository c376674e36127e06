import { QRCodeSVG } from 'qrcode.react'
import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { atField, PROOF_CODES } from '#console/ui/at-field.ts'
import { CopyButton } from '#console/ui/copy-button.tsx'
import { FormDialog } from '#console/ui/form-dialog.tsx'
import { FormField } from '#console/ui/form-field.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { useSubmit } from '#console/ui/use-submit.ts'
import type { TotpOffer } from '#write-api/contract/credentials.ts'

/** The secret as a QR code and as text; a code of the app confirms it. */
export function TotpDialog(props: {
  offer: TotpOffer
  onDone: (recoveryCodes: string[]) => void
  onClose: () => void
}): ReactElement {
  const { t } = useTranslation()
  const { secret, uri } = props.offer
  const [code, setCode] = useState('')
  const [fault, setFault] = useState('')
  const { isBusy, submit } = useSubmit(async () => {
    if (!/^\d{6}$/.test(code.replace(/\s/g, ''))) return setFault(t('security.sixDigits'))
    await atField(PROOF_CODES, setFault, async () => props.onDone(await confirmTotp(code)))
  })
  return (
    <FormDialog
      isOpen
      title={t('security.totpSetUp')}
      lead={t('security.totpScan')}
      submitText={t('security.turnOn')}
      isBusy={isBusy}
      onSubmit={() => void submit()}
      onClose={props.onClose}
    >
      <div className="tg-me-qr">
        <QRCodeSVG value={uri} size={176} marginSize={3} title={t('security.qrCode')} />
      </div>
      <div className="tg-me-secret">
        <code className="tg-mono">{secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
        <CopyButton text={secret} label={t('security.copySecret')} />
      </div>
      <FormField label={t('security.codeShown')} error={fault} isRequired>
        {(control) => (
          <TextInput
            {...control}
            autoComplete="one-time-code"
            inputMode="numeric"
            isMono
            maxLength={10}
            value={code}
            onChange={(value) => {
              setCode(value)
              setFault('')
            }}
          />
        )}
      </FormField>
    </FormDialog>
  )
}

/** Answers the recovery codes that came with it; none where there were some. */
const confirmTotp = async (code: string): Promise<string[]> =>
  (await call('POST /api/user/totp', { body: { code } })).recovery_codes
