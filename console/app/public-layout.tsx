import { Outlet, ScrollRestoration, useLocation } from 'react-router-dom'
import { useUser } from '#console/api/session.ts'
import { Footer, PlainHttpWarning, SkipLink } from './footer-skip-link-and-http-warning.tsx'
import { Notice } from './notice.tsx'
import { Bell, ShellFrame } from './shell-frame.tsx'
import { isWithoutSidebar } from './shell-skeleton.tsx'
import { TopBar } from './top-bar.tsx'

const CHAT = /^\/chat(?:\/|$)/

export function PublicLayout(props: { isKnownPath: (path: string) => boolean }) {
  const { pathname } = useLocation()
  const user = useUser()
  const isChat = CHAT.test(pathname)
  const page = <Outlet context={props.isKnownPath} />
  if (user !== null && !isWithoutSidebar(pathname)) return <ShellFrame>{page}</ShellFrame>
  return (
    <div className={isChat ? 'tg-public tg-public-chat' : 'tg-public'}>
      <SkipLink />
      <TopBar
        isBare={pathname === '/setup'}
        canRegister={props.isKnownPath('/register')}
        tools={user === null || isChat ? null : <Bell />}
      />
      <PlainHttpWarning />
      <main id="main" className="tg-public-main" tabIndex={-1}>
        {pathname === '/' && <Notice />}
        {page}
      </main>
      {!isChat && <Footer />}
      <ScrollRestoration />
    </div>
  )
}
