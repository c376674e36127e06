import { type ReactElement, useState } from 'react'
import { Navigate, Outlet, ScrollRestoration, useLocation } from 'react-router-dom'
import { loginPath } from '#console/api/auth/return-to.ts'
import { hasLeft } from '#console/api/session.ts'
import { useStatus } from '#console/api/status/status.ts'
import { useUser } from '#console/api/use-user.ts'
import { readFlag, useLocalPreference } from '#console/ui/use-local-preference.ts'
import { useIsMedium, useIsNarrow } from '#console/ui/use-media.ts'
import { Commands } from './commands.tsx'
import { Footer } from './footer.tsx'
import { HealthBanner } from './health-banner.tsx'
import { MobileNavigation } from './mobile-navigation.tsx'
import { Notice } from './notice.tsx'
import { Sidebar } from './sidebar.tsx'
import { SkipLink } from './skip-link.tsx'
import { TopBar } from './top-bar.tsx'

/** Everything behind the login: top bar, sidebar, content. */
export function ConsoleLayout(): ReactElement {
  const user = useUser()
  const status = useStatus()
  const isNarrow = useIsNarrow()
  const isMedium = useIsMedium()
  const { pathname, search } = useLocation()
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [isCollapsed, setCollapsed] = useLocalPreference(
    'default_collapse_sidebar',
    status?.default_collapse_sidebar === true,
    readFlag,
  )
  if (user === null) {
    const path = loginPath(`${pathname}${search}`, { isExpired: true })
    return <Navigate to={hasLeft() ? '/login' : path} replace />
  }
  const isSlim = isCollapsed || isMedium
  return (
    <div className={isSlim && !isNarrow ? 'tg-shell tg-shell-collapsed' : 'tg-shell'}>
      <SkipLink />
      <TopBar tools={<Commands />} {...(isNarrow ? { onMenu: () => setMenuOpen(true) } : {})} />
      {!isNarrow && (
        <Sidebar
          isCollapsed={isSlim}
          onCollapse={isMedium ? () => setMenuOpen(true) : setCollapsed}
        />
      )}
      {isMedium && <MobileNavigation isOpen={isMenuOpen} onClose={() => setMenuOpen(false)} />}
      <div className="tg-shell-body">
        <main id="main" className="tg-main" tabIndex={-1}>
          <HealthBanner />
          <Notice />
          <Outlet />
        </main>
        <Footer />
      </div>
      <ScrollRestoration />
    </div>
  )
}
