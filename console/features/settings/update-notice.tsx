import { useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { automaticCheckQuery } from '#console/api/options/latest-release.ts'
import { Button } from '#console/ui/button.tsx'

/** Where the automatic check found a newer release: one line above the settings. */
export function UpdateNotice(props: { onShow: () => void }): ReactElement | null {
  const { t } = useTranslation()
  const { data } = useQuery(automaticCheckQuery)
  if (data?.is_newer !== true) return null
  return (
    <div className="tg-setting-said tg-update-notice">
      <span>{t('settings.update.newer', { latest: data.latest, current: data.current })}</span>
      <Button size="small" onClick={props.onShow}>
        {t('settings.update.show')}
      </Button>
    </div>
  )
}
