import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { FormField } from '#console/ui/forms/form-field.tsx'
import { TextInput } from '#console/ui/forms/inputs.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { useFileDownload } from '../elements/file-download.tsx'

const POSITION = /^(?:[1-9]\d{0,14})?$/
const MEGABYTE = 1_000_000

/** Downloads events with their proofs, and offers the offline verifier that checks these proofs. */
export function EventExportPanel() {
  const { t } = useTranslation()
  const number = useNumberFormat({ maximumFractionDigits: 1 })
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const download = useFileDownload()
  const isInvalidPosition = (text: string) => !POSITION.test(text.trim())
  const errorOf = (text: string) =>
    isInvalidPosition(text) ? t('audit.export.positionWrong') : undefined
  const start = (): void =>
    download.start({
      route: 'GET /api/audit/export',
      query: { from: from.trim(), to: to.trim() },
      name: `audit-export-${from.trim() || '1'}-${to.trim() || 'end'}.tar`,
    })
  return (
    <Panel title={t('audit.export.title')} lead={t('audit.export.lead')}>
      <form
        className="tg-proofs-export"
        onSubmit={(event) => {
          event.preventDefault()
          start()
        }}
      >
        <FormField label={t('audit.export.from')} error={errorOf(from)}>
          {(field) => <TextInput {...field} inputMode="numeric" value={from} onChange={setFrom} />}
        </FormField>
        <FormField label={t('audit.export.to')} error={errorOf(to)}>
          {(field) => <TextInput {...field} inputMode="numeric" value={to} onChange={setTo} />}
        </FormField>
        {download.bytes === null ? (
          <Button
            type="submit"
            tone="primary"
            icon="download"
            isDisabled={isInvalidPosition(from) || isInvalidPosition(to)}
          >
            {t('audit.export.start')}
          </Button>
        ) : (
          <Button icon="close" onClick={download.cancel}>
            {t('audit.export.cancel', { size: number.format(download.bytes / MEGABYTE) })}
          </Button>
        )}
      </form>
      <h3 className="tg-proofs-heading">{t('audit.export.check')}</h3>
      <ol className="tg-proofs-steps">
        <li>{t('audit.export.unpack')}</li>
        <li>
          {t('audit.export.run')} <code>node verify.mjs . --key KEY</code>
        </li>
        <li>{t('audit.export.compare')}</li>
      </ol>
      <p className="tg-hint">{t('audit.export.hint')}</p>
    </Panel>
  )
}
