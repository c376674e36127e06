import type { ReactElement } from 'react'
import { Outlet, ScrollRestoration, useLocation } from 'react-router-dom'
import { Footer } from './footer.tsx'
import { Notice } from './notice.tsx'
import { SkipLink } from './skip-link.tsx'
import { TopBar } from './top-bar.tsx'

/** Home, login and setup: no sidebar. Tells its pages which paths a login may return to. */
export function PublicLayout(props: { isKnownPath: (path: string) => boolean }): ReactElement {
  const { pathname } = useLocation()
  return (
    <div className="tg-public">
      <SkipLink />
      <TopBar isBare={pathname === '/setup'} canRegister={props.isKnownPath('/register')} />
      <main id="main" className="tg-public-main" tabIndex={-1}>
        {pathname === '/' && <Notice />}
        <Outlet context={props.isKnownPath} />
      </main>
      <Footer />
      <ScrollRestoration />
    </div>
  )
}
