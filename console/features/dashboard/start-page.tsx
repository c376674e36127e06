import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { ErrorState } from '#console/ui/layout/empty-state.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { FirstRun, FirstRunWait } from './first-run.tsx'
import { useDashboard } from './use-dashboard.ts'
import './dashboard.css'

export function StartPage(): ReactElement {
  const { t } = useTranslation()
  const { self } = useDashboard()
  return (
    <Page title={t('dashboard.start')}>
      {self.data !== undefined ? (
        <FirstRun calls={self.data.request_count} isOwnPage />
      ) : self.error !== null ? (
        <ErrorState error={self.error} onRetry={() => void self.refetch()} />
      ) : (
        <FirstRunWait />
      )}
    </Page>
  )
}
