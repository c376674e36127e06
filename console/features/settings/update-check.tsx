import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { automaticCheckQuery, checkForUpdate } from '#console/api/options/latest-release.ts'
import { Button } from '#console/ui/button.tsx'
import { StatusTag } from '#console/ui/status-tag.tsx'
import { useSubmit } from '#console/ui/use-submit.ts'
import type { LatestRelease } from '#read-api/contract/latest-release.ts'

/** Asks for the latest release now, and says what there is. */
export function UpdateCheck(): ReactElement {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [found, setFound] = useState<LatestRelease | null>(
    () => client.getQueryData(automaticCheckQuery.queryKey) ?? null,
  )
  const { isBusy, submit } = useSubmit(async () => {
    setFound(null)
    const release = await checkForUpdate()
    client.setQueryData(automaticCheckQuery.queryKey, release)
    setFound(release)
  })
  return (
    <div className="tg-update">
      <Button icon="refresh" isBusy={isBusy} onClick={() => void submit()}>
        {t('settings.update.check')}
      </Button>
      <output>{found !== null && found.latest !== '' && <Found release={found} />}</output>
    </div>
  )
}

function Found({ release }: { release: LatestRelease }): ReactElement {
  const { t } = useTranslation()
  const { current, latest, notes, is_newer: isNewer } = release
  return (
    <>
      <StatusTag tone={isNewer ? 'info' : 'good'}>
        {isNewer
          ? t('settings.update.newer', { latest, current })
          : t('settings.update.upToDate', { latest, current })}
      </StatusTag>
      {isNewer && notes !== '' && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        <pre className="tg-update-notes" tabIndex={0}>
          {notes}
        </pre>
      )}
    </>
  )
}
