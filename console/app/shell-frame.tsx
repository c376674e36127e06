import { lazy, type ReactNode, Suspense, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, ScrollRestoration } from 'react-router-dom'
import { useStatus } from '../api/status.ts'
import { Overlay } from '../ui/dialogs/overlay.tsx'
import { Button } from '../ui/elements/button.tsx'
import { readFlag, useLocalPreference } from '../ui/state/use-local-preference.ts'
import { useIsMedium, useIsNarrow } from '../ui/state/use-media-query.ts'
import { Brand } from './brand.tsx'
import { Footer, PlainHttpWarning, SkipLink } from './footer-skip-link-and-http-warning.tsx'
import { BellLink } from './inbox-bell-link.tsx'
import { NavSections, Sidebar } from './sidebar.tsx'
import { siteLinks, TopBar } from './top-bar.tsx'

function MobileNavigation(props: { isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation()
  const id = useId()
  return (
    <Overlay
      isOpen={props.isOpen}
      onClose={props.onClose}
      labelledBy={id}
      className="tg-mobile-menu"
    >
      <header>
        <h2 id={id} className="tg-visually-hidden">
          {t('shell.navigation')}
        </h2>
        <Brand />
        <Button tone="quiet" icon="close" label={t('ui.close')} onClick={props.onClose} />
      </header>
      <NavSections isCollapsed={false} onFollow={props.onClose} />
      <ul className="tg-mobile-links" aria-label={t('shell.topNavigation')}>
        {siteLinks(useStatus())
          .filter(({ id }) => id !== 'console')
          .map(({ id, to, isElsewhere }) => (
            <li key={id}>
              {isElsewhere ? (
                <a href={to} target="_blank" rel="noopener noreferrer">
                  {t(`shell.${id}`)}
                </a>
              ) : (
                <Link to={to} onClick={props.onClose}>
                  {t(`shell.${id}`)}
                </Link>
              )}
            </li>
          ))}
      </ul>
    </Overlay>
  )
}

/**
 * The bell that links to the inbox. The bell is loaded as a separate script. If loading fails, a
 * plain link to the inbox is shown instead.
 */
const InboxBell = lazy(() =>
  import('./inbox-bell.tsx').then(
    (module) => ({ default: module.InboxBell }),
    () => ({ default: () => <BellLink unread={0} /> }),
  ),
)

export function Bell() {
  return (
    <Suspense fallback={<BellLink unread={0} />}>
      <InboxBell />
    </Suspense>
  )
}

export function ShellFrame(props: { tools?: ReactNode; children: ReactNode }) {
  const status = useStatus()
  const isNarrow = useIsNarrow()
  const isMedium = useIsMedium()
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [isCollapsed, setCollapsed] = useLocalPreference(
    'default_collapse_sidebar',
    status?.default_collapse_sidebar === true,
    readFlag,
  )
  const isSlim = isCollapsed || isMedium
  return (
    <div className={isSlim && !isNarrow ? 'tg-shell tg-shell-collapsed' : 'tg-shell'}>
      <SkipLink />
      <TopBar
        tools={
          <>
            {props.tools}
            <Bell />
          </>
        }
        {...(isNarrow ? { onMenu: () => setMenuOpen(true) } : {})}
      />
      {!isNarrow && (
        <Sidebar
          isCollapsed={isSlim}
          onCollapse={isMedium ? () => setMenuOpen(true) : setCollapsed}
        />
      )}
      {isMedium && <MobileNavigation isOpen={isMenuOpen} onClose={() => setMenuOpen(false)} />}
      <div className="tg-shell-body">
        <PlainHttpWarning />
        <main id="main" className="tg-main" tabIndex={-1}>
          {props.children}
        </main>
        <Footer />
      </div>
      <ScrollRestoration />
    </div>
  )
}
