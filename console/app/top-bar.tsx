import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, NavLink, useLocation, useNavigate } from 'react-router-dom'
import { useUser } from '#console/api/session.ts'
import { chooseTheme, useTheme } from '#console/theme/theme-mode.ts'
import { ActionButton, Button } from '#console/ui/elements/button.tsx'
import { MenuButton } from '#console/ui/elements/menu.tsx'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { useSiteName } from '#console/ui/layout/page.tsx'
import { useIsNarrow } from '#console/ui/state/use-media-query.ts'
import type { Status } from '#read-api/contract/status.ts'
import { useStatus } from '../api/status.ts'
import { AccountMenu } from './account-menu.tsx'
import { Brand } from './brand.tsx'
import { LanguageMenu } from './language-menu.tsx'

export function TopBar(props: {
  onMenu?: () => void
  /**
   * True on the setup page. The bar then has no links, because the other pages work only after the
   * setup.
   */
  isBare?: boolean
  canRegister?: boolean
  tools?: ReactNode
}) {
  const { t } = useTranslation()
  const user = useUser()
  const siteName = useSiteName()
  return (
    <header className="tg-top">
      {props.onMenu === undefined ? null : (
        <Button tone="quiet" icon="menu" label={t('shell.openMenu')} onClick={props.onMenu} />
      )}
      {props.isBare === true ? (
        <Brand />
      ) : (
        <Link to="/" className="tg-top-brand" aria-label={siteName}>
          <Brand />
        </Link>
      )}
      <ModeBadge />
      {props.isBare === true ? null : <SiteLinks hasMenu={props.onMenu !== undefined} />}
      <div className="tg-top-end">
        {props.tools}
        <LanguageMenu />
        <ActionButton tone="quiet" action={useThemeAction()} />
        {props.isBare === true ? null : user === null ? (
          <>
            {props.canRegister === true && <RegisterLink />}
            <Link className="tg-top-login" to="/login">
              {t('shell.login')}
            </Link>
          </>
        ) : (
          <AccountMenu user={user} />
        )}
      </div>
    </header>
  )
}

/**
 * The links to the pages of the site. On a narrow screen, this component shows the links in a menu,
 * or nothing if the page already has a menu with these links (`hasMenu`).
 */
function SiteLinks({ hasMenu }: { hasMenu: boolean }) {
  const { t } = useTranslation()
  const links = siteLinks(useStatus())
  const isNarrow = useIsNarrow()
  const navigate = useNavigate()
  const isInConsole = /^\/(app|admin|channel|user\/edit)\//.test(`${useLocation().pathname}/`)
  if (isNarrow) {
    if (hasMenu) return null
    const items = links.map(({ id, to, isElsewhere }) => ({
      title: t(`shell.${id}`),
      perform: () =>
        void (isElsewhere ? window.open(to, '_blank', 'noopener,noreferrer') : navigate(to)),
    }))
    return (
      <MenuButton items={items} placement="bottom-start">
        <Button tone="quiet" icon="menu" label={t('shell.menu')} />
      </MenuButton>
    )
  }
  return (
    <nav className="tg-top-links" aria-label={t('shell.topNavigation')}>
      {links.map(({ id, to, isElsewhere }) =>
        isElsewhere ? (
          <a key={id} href={to} target="_blank" rel="noopener noreferrer">
            {t(`shell.${id}`)}
          </a>
        ) : (
          <NavLink
            key={id}
            to={to}
            end={id === 'home'}
            {...(id === 'console' ? { className: () => (isInConsole ? 'active' : '') } : {})}
          >
            {t(`shell.${id}`)}
          </NavLink>
        ),
      )}
    </nav>
  )
}

function RegisterLink() {
  const { t } = useTranslation()
  const status = useStatus()
  const isNarrow = useIsNarrow()
  const isOpen = status?.register_enabled === true && !status.self_use_mode_enabled
  if (isNarrow || !isOpen) return null
  return (
    <Link className="tg-top-register" to="/register">
      {t('shell.register')}
    </Link>
  )
}

function ModeBadge() {
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

export function useThemeAction() {
  const { t } = useTranslation()
  const isDark = useTheme() === 'dark'
  return {
    id: 'theme',
    title: isDark ? t('shell.toLight') : t('shell.toDark'),
    icon: isDark ? 'sun' : 'moon',
    perform: () => chooseTheme(isDark ? 'light' : 'dark'),
  } as const
}

type SiteLink = {
  readonly id: 'home' | 'console' | 'pricing' | 'docs' | 'about'
  /** The path of a page of this site, or the URL of another site. */
  readonly to: string
  readonly isElsewhere: boolean
}

export function siteLinks(status: Status | undefined): SiteLink[] {
  const docs = status?.docs_link ?? ''
  const internalLink = (id: SiteLink['id'], to: string): SiteLink => ({
    id,
    to,
    isElsewhere: false,
  })
  return [
    internalLink('home', '/'),
    internalLink('console', '/app/dashboard'),
    internalLink('pricing', '/pricing'),
    ...(/^https?:\/\//.test(docs) ? [{ id: 'docs', to: docs, isElsewhere: true } as const] : []),
    internalLink('about', '/about'),
  ]
}
