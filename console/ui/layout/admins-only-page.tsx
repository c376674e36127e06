import type { ParseKeysWithoutVariables } from 'i18next'
import type { ComponentType } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { isAdmin, useUser } from '#console/api/session.ts'
import { EmptyState } from './empty-state.tsx'
import { Page } from './page.tsx'
import { Panel } from './panel.tsx'

/** Says that the user may not open a page, and links to a page that the user may open. */
export function ForbiddenPage(props: {
  title: string
  reason: string
  to: string
  linkText: string
}) {
  const { t } = useTranslation()
  return (
    <Page title={props.title}>
      <Panel>
        <EmptyState
          icon="eyeOff"
          title={t('ui.forbidden')}
          body={<p>{props.reason}</p>}
          action={
            <Link className="tg-link-button" to={props.to}>
              {props.linkText}
            </Link>
          }
        />
      </Panel>
    </Page>
  )
}

export function AdminsOnlyPage({ title }: { title: string }) {
  const { t } = useTranslation()
  const link = { to: '/app/dashboard', linkText: t('ui.toDashboard') }
  return <ForbiddenPage title={title} reason={t('ui.adminsOnly')} {...link} />
}

/**
 * Creates a page component that shows `Content` to admins, and an explanation to all other users.
 */
export const adminPage = (title: ParseKeysWithoutVariables, Content: ComponentType) =>
  function AdminPage() {
    const { t } = useTranslation()
    return isAdmin(useUser()) ? <Content /> : <AdminsOnlyPage title={t(title)} />
  }
