import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/elements/button.tsx'
import { type FileRequest, useFileDownload } from './use-file-download.ts'

/**
 * A button that downloads the rows of a list as CSV. The download can be cancelled while it runs.
 */
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
