import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { FormDialog } from '../form-dialog.tsx'
import { FormField } from '../form-field.tsx'
import { TextInput } from '../inputs.tsx'
import { useSubmit } from '../use-submit.ts'

/** The QR code of the site's WeChat account, and the code that this account answers with. */
export function WeChatDialog(props: {
  isOpen: boolean
  title: string
  submitText: string
  qrCode: string
  /** Closes the dialog itself, unless it fails. */
  onCode: (code: string) => Promise<void>
  onClose: () => void
}): ReactElement {
  const { t } = useTranslation()
  const [code, setCode] = useState('')
  const [isChecked, setChecked] = useState(false)
  const close = () => {
    setCode('')
    setChecked(false)
    props.onClose()
  }
  const { isBusy, submit } = useSubmit(async () => {
    setChecked(true)
    if (code.trim() === '') return
    await props.onCode(code.trim())
    close()
  })
  return (
    <FormDialog
      isOpen={props.isOpen}
      title={props.title}
      lead={t(props.qrCode === '' ? 'oauth.noScan' : 'oauth.scan')}
      submitText={props.submitText}
      isBusy={isBusy}
      onSubmit={() => void submit()}
      onClose={close}
    >
      {props.qrCode !== '' && (
        <img className="tg-qr-code" src={props.qrCode} alt={t('oauth.qrCode')} />
      )}
      <FormField
        label={t('oauth.code')}
        error={isChecked && code.trim() === '' ? t('oauth.codeRequired') : ''}
      >
        {(control) => (
          <TextInput
            {...control}
            autoComplete="one-time-code"
            inputMode="numeric"
            value={code}
            onChange={setCode}
          />
        )}
      </FormField>
    </FormDialog>
  )
}
