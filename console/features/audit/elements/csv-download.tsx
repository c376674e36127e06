import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/elements/button.tsx'
import { type FileRequest, useFileDownload } from './use-file-download.ts'

/** Downloads what a list shows as CSV. A running download can be cancelled. */
export function CsvDownload({ file }: { file: FileRequest }) {
  const { t } = useTranslation()
  const download = useFileDownload()
  return download.bytes === null ? (
    <Button
      icon="download"
      label={t('usageLog.exportAs.csv')}
      onClick={() => download.start(file)}
    />
  ) : (
    <Button icon="close" label={t('usageLog.exportCancel')} onClick={download.cancel} />
  )
}
