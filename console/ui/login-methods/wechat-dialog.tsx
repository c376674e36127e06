import { useTranslation } from 'react-i18next'
import { FormDialog } from '../dialogs/form-dialog.tsx'
import { TextField } from '../forms/fields.tsx'
import { useDraftForm } from '../forms/use-draft-form.ts'

/**
 * Shows the QR code of the site's WeChat account, and a field for a code. Users who scan the QR
 * code get this code from the account.
 */
export function WeChatDialog(props: {
  isOpen: boolean
  title: string
  submitText: string
  qrCode: string
  /** Called with the code. If the promise rejects, the dialog stays open. */
  onCode: (code: string) => Promise<void>
  onClose: () => void
}) {
  const { t } = useTranslation()
  const form = useDraftForm({
    onClose: props.onClose,
    initial: () => ({ code: '' }),
    validate: ({ code }) => (code.trim() === '' ? { code: t('ui.enterCode') } : {}),
    save: async ({ code }) => {
      await props.onCode(code.trim())
      form.close()
    },
  })
  return (
    <FormDialog
      isOpen={props.isOpen}
      title={props.title}
      lead={t(props.qrCode === '' ? 'oauth.noScan' : 'oauth.scan')}
      submitText={props.submitText}
      form={form}
    >
      {props.qrCode !== '' && (
        <img className="tg-qr-code" src={props.qrCode} alt={t('oauth.qrCode')} />
      )}
      <TextField
        label={t('ui.verificationCode')}
        autoComplete="one-time-code"
        inputMode="numeric"
        {...form.field('code')}
      />
    </FormDialog>
  )
}
