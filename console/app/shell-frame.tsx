import { lazy, type ReactElement, type ReactNode, Suspense, useState } from 'react'
import { ScrollRestoration } from 'react-router-dom'
import { useStatus } from '#console/api/status/status.ts'
import { readFlag, useLocalPreference } from '#console/ui/use-local-preference.ts'
import { useIsMedium, useIsNarrow } from '#console/ui/use-media.ts'
import { BellLink } from './bell-link.tsx'
import { Footer } from './footer.tsx'
import { MobileNavigation } from './mobile-navigation.tsx'
import { PlainHttp } from './plain-http.tsx'
import { Sidebar } from './sidebar.tsx'
import { SkipLink } from './skip-link.tsx'
import { TopBar } from './top-bar.tsx'

/** What listens comes after the page; where it does not come, the way to the inbox is there. */
const InboxBell = lazy(() =>
  import('./inbox-bell.tsx').then(
    (module) => ({ default: module.InboxBell }),
    () => ({ default: () => <BellLink unread={0} /> }),
  ),
)

/** The way to the inbox, with what is unread, for somebody who is logged in. */
export function Bell(): ReactElement {
  return (
    <Suspense fallback={<BellLink unread={0} />}>
      <InboxBell />
    </Suspense>
  )
}

/** Top bar, sidebar and footer around a page of somebody who is logged in. */
export function ShellFrame(props: {
  /** The first of what stands at the end of the top bar. */
  tools?: ReactNode
  children: ReactNode
}): ReactElement {
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
        <PlainHttp />
        <main id="main" className="tg-main" tabIndex={-1}>
          {props.children}
        </main>
        <Footer />
      </div>
      <ScrollRestoration />
    </div>
  )
}
