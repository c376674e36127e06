import type { ReactElement, ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, NavLink, useLocation } from 'react-router-dom'
import { useStatus } from '#console/api/status/status.ts'
import { useUser } from '#console/api/use-user.ts'
import { Button } from '#console/ui/button.tsx'
import { StatusTag } from '#console/ui/status-tag.tsx'
import { useIsNarrow } from '#console/ui/use-media.ts'
import { AccountMenu } from './account-menu.tsx'
import { Brand } from './brand.tsx'
import { LanguageMenu } from './language-menu.tsx'
import { ThemeButton } from './theme-button.tsx'

export function TopBar(props: {
  /** Opens the mobile navigation; given on narrow screens with a sidebar. */
  onMenu?: () => void
  /** Without links: there is nowhere to go before the setup. */
  isBare?: boolean
  /** The first of what stands at the end. */
  tools?: ReactNode
}): ReactElement {
  const { t } = useTranslation()
  const user = useUser()
  return (
    <header className="tg-top">
      {props.onMenu === undefined ? null : (
        <Button tone="quiet" icon="menu" label={t('shell.openMenu')} onClick={props.onMenu} />
      )}
      {props.isBare === true ? (
        <Brand />
      ) : (
        <Link to="/" className="tg-top-brand">
          <Brand />
        </Link>
      )}
      <ModeBadge />
      {props.isBare === true ? null : <SiteLinks />}
      <div className="tg-top-end">
        {props.tools}
        <LanguageMenu />
        <ThemeButton />
        {props.isBare === true ? null : user === null ? (
          <Link className="tg-top-login" to="/login">
            {t('shell.login')}
          </Link>
        ) : (
          <AccountMenu user={user} />
        )}
      </div>
    </header>
  )
}

function SiteLinks(): ReactElement | null {
  const { t } = useTranslation()
  const docs = useStatus()?.docs_link ?? ''
  const isNarrow = useIsNarrow()
  const isInConsole = /^\/(app|admin)\//.test(useLocation().pathname)
  if (isNarrow) return null
  return (
    <nav className="tg-top-links" aria-label={t('shell.topNavigation')}>
      <NavLink to="/" end>
        {t('shell.home')}
      </NavLink>
      <NavLink to="/app/dashboard" className={() => (isInConsole ? 'active' : '')}>
        {t('shell.console')}
      </NavLink>
      {/^https?:\/\//.test(docs) && (
        <a href={docs} target="_blank" rel="noopener noreferrer">
          {t('shell.docs')}
        </a>
      )}
    </nav>
  )
}

function ModeBadge(): ReactElement | null {
  const { t } = useTranslation()
  const status = useStatus()
  if (status?.self_use_mode_enabled === true) {
    return (
      <StatusTag tone="info" isPlain>
        {t('shell.selfUse')}
      </StatusTag>
    )
  }
  if (status?.demo_site_enabled !== true) return null
  return (
    <StatusTag tone="warn" isPlain>
      {t('shell.demo')}
    </StatusTag>
  )
}
