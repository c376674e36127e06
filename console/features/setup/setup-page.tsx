import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '#console/api/client.ts'
import { ErrorState } from '#console/ui/layout/empty-state.tsx'
import { SingleTaskPage } from '#console/ui/layout/single-task-page.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { SetupForm } from './setup-form.tsx'

const databaseName = (type: string): string => (type === 'postgres' ? 'PostgreSQL' : type)

export function SetupPage() {
  const { t } = useTranslation()
  const { data, isError, refetch } = useQuery(setupStatusQuery)
  return (
    <SingleTaskPage
      title={t('setup.title')}
      lead={data?.root_init === true ? t('setup.accountReady') : t('setup.lead')}
      isWide
    >
      {isError ? (
        <ErrorState error={new Error(t('setup.statusFailed'))} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Skeleton height={320} />
      ) : (
        <SetupForm isRootReady={data.root_init} />
      )}
      {data !== undefined && (
        <p className="tg-entry-foot">
          {t('setup.database', { name: databaseName(data.database_type) })}
        </p>
      )}
    </SingleTaskPage>
  )
}

const setupStatusQuery = apiQuery('GET /api/setup')
