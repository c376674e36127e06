import type { ParseKeysWithoutVariables } from 'i18next'
import type { ComponentType } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { isAdmin, useUser } from '#console/api/session.ts'
import { EmptyState } from './empty-state.tsx'
import { Page } from './page.tsx'
import { Panel } from './panel.tsx'

export function AdminsOnlyPage({ title }: { title: string }) {
  const { t } = useTranslation()
  return (
    <Page title={title}>
      <Panel>
        <EmptyState
          icon="eyeOff"
          title={t('ui.forbidden')}
          body={<p>{t('ui.adminsOnly')}</p>}
          action={
            <Link className="tg-link-button" to="/app/dashboard">
              {t('ui.toDashboard')}
            </Link>
          }
        />
      </Panel>
    </Page>
  )
}

/**
 * Creates a page component that shows `Content` to admins, and an explanation to all other users.
 */
export const adminPage = (title: ParseKeysWithoutVariables, Content: ComponentType) =>
  function AdminPage() {
    const { t } = useTranslation()
    return isAdmin(useUser()) ? <Content /> : <AdminsOnlyPage title={t(title)} />
  }
