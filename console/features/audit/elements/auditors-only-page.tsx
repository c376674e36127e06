import type { ParseKeysWithoutVariables } from 'i18next'
import type { ComponentType } from 'react'
import { useTranslation } from 'react-i18next'
import { isAuditor, useUser } from '#console/api/session.ts'
import { ForbiddenPage } from '#console/ui/layout/admins-only-page.tsx'

/** Creates a page that shows `Content` only to auditors and admins. */
export const auditorsOnlyPage = (title: ParseKeysWithoutVariables, Content: ComponentType) =>
  function AuditorsOnlyPage() {
    const { t } = useTranslation()
    if (isAuditor(useUser())) return <Content />
    const link = { to: '/app/ledger', linkText: t('audit.toOwnLedger') }
    return <ForbiddenPage title={t(title)} reason={t('audit.auditorsOnly')} {...link} />
  }
