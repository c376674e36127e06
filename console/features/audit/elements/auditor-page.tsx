import type { ParseKeysWithoutVariables } from 'i18next'
import type { ComponentType } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { isAuditor, useUser } from '#console/api/session.ts'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'

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
