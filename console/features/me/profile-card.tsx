import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { ROOT_ROLE } from '#console/api/session.ts'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { GroupTag } from '#console/ui/group-tag.tsx'
import { quotaOf } from '#console/ui/money.ts'
import { Quota } from '#console/ui/quota.tsx'
import { Skeleton } from '#console/ui/skeleton.tsx'
import { StatusTag } from '#console/ui/status-tag.tsx'
import { Figure } from './figure.tsx'
import type { MePanelProps } from './me-panel.ts'

/** Who one is here, and what one has. */
export function ProfileCard({ user }: MePanelProps): ReactElement {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const name = user?.display_name || user?.username || ''
  const wait = <Skeleton width={60} height={20} />
  return (
    <section className="tg-me-profile" aria-label={name || t('me.title')}>
      <div className="tg-me-person">
        <span className="tg-me-avatar" aria-hidden="true">
          {[...name][0]?.toUpperCase()}
        </span>
        <div>
          <h2>{user === undefined ? <Skeleton width={100} height={20} /> : name}</h2>
          {user !== undefined && (
            <p className="tg-me-marks">
              <span className="tg-muted">@{user.username}</span>
              <span className="tg-muted">
                {t('me.id')} {user.id}
              </span>
              <StatusTag tone={user.role >= ROOT_ROLE ? 'info' : 'neutral'} isPlain>
                {user.role >= ROOT_ROLE ? t('me.admin') : t('me.user')}
              </StatusTag>
              <GroupTag name={user.group} />
              <Link to="/user/edit">{t('me.editProfile')}</Link>
            </p>
          )}
        </div>
      </div>
      <dl className="tg-me-figures">
        <Figure name={t('me.balance')}>
          {user ? <Quota value={quotaOf(user.quota)} /> : wait}
        </Figure>
        <Figure name={t('me.used')}>
          {user ? <Quota value={quotaOf(user.used_quota)} /> : wait}
        </Figure>
        <Figure name={t('me.calls')}>{user ? number.format(user.request_count) : wait}</Figure>
      </dl>
    </section>
  )
}
