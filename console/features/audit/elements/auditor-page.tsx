import type { ParseKeysWithoutVariables } from 'i18next'
import type { ComponentType, ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { isNotFound } from '#console/api/api-error.ts'
import { isAuditor, useUser } from '#console/api/session.ts'
import { EmptyState, ErrorState } from '#console/ui/layout/empty-state.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'

/** Creates a page that shows `Content` only to auditors and admins. */
export const auditorPage = (title: ParseKeysWithoutVariables, Content: ComponentType) =>
  function AuditorPage() {
    const { t } = useTranslation()
    if (isAuditor(useUser())) return <Content />
    const toLedger = (
      <Link className="tg-link-button" to="/app/ledger">
        {t('audit.toOwnLedger')}
      </Link>
    )
    return (
      <Page title={t(title)}>
        <Panel>
          <EmptyState
            icon="eyeOff"
            title={t('ui.forbidden')}
            body={<p>{t('audit.auditorsOnly')}</p>}
            action={toLedger}
          />
        </Panel>
      </Page>
    )
  }

/**
 * Shown instead of an object while it loads, if it does not exist, or if it could not be read.
 * `missing` contains the texts for an object that does not exist and, optionally, an action.
 */
export function ObjectFallback(props: {
  error: Error | null
  onRetry: () => void
  missing: { readonly title: string; readonly body: string; readonly action?: ReactNode }
}) {
  const { error, missing } = props
  if (error === null) return <Skeleton height={320} />
  if (isNotFound(error)) return <EmptyState icon="search" {...missing} />
  return <ErrorState error={error} onRetry={props.onRetry} />
}
