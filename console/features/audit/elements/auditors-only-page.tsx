import type { ParseKeysWithoutVariables } from 'i18next'
import type { ComponentType, ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { isNotFound } from '#console/api/api-error.ts'
import { isAuditor, useUser } from '#console/api/session.ts'
import { ForbiddenPage } from '#console/ui/layout/admins-only-page.tsx'
import { EmptyState, ErrorState } from '#console/ui/layout/empty-state.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'

/** Creates a page that shows `Content` only to auditors and admins. */
export const auditorsOnlyPage = (title: ParseKeysWithoutVariables, Content: ComponentType) =>
  function AuditorsOnlyPage() {
    const { t } = useTranslation()
    if (isAuditor(useUser())) return <Content />
    const link = { to: '/app/ledger', linkText: t('audit.toOwnLedger') }
    return <ForbiddenPage title={t(title)} reason={t('audit.auditorsOnly')} {...link} />
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
