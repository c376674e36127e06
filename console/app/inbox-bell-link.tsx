import { useTranslation } from 'react-i18next'
import { NavLink } from 'react-router-dom'
import { Icon } from '#console/ui/elements/icons.tsx'
import './inbox-bell.css'

const SHOWN_MAX = 99

export function BellLink({ unread }: { unread: number }) {
  const { t } = useTranslation()
  const count = unread > SHOWN_MAX ? `${SHOWN_MAX}+` : String(unread)
  const label = unread === 0 ? t('shell.inbox') : t('shell.inboxUnread', { number: count })
  return (
    <NavLink to="/app/inbox" className="tg-bell" aria-label={label} title={label}>
      <Icon name="bell" />
      {unread > 0 && (
        <span className="tg-bell-badge" aria-hidden="true">
          {count}
        </span>
      )}
    </NavLink>
  )
}
