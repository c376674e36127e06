import { lazy, type ReactElement, Suspense } from 'react'
import { Navigate, Outlet, useLocation } from 'react-router-dom'
import { loginPath } from '#console/api/auth/return-to.ts'
import { hasLeft } from '#console/api/session.ts'
import { useUser } from '#console/api/use-user.ts'
import { useLogout } from './account-menu.tsx'
import { Commands } from './commands.tsx'
import { Footer } from './footer.tsx'
import { HealthBanner } from './health-banner.tsx'
import { Notice } from './notice.tsx'
import { PlainHttp } from './plain-http.tsx'
import { ShellFrame } from './shell-frame.tsx'
import { SkipLink } from './skip-link.tsx'
import { TopBar } from './top-bar.tsx'

/** Everything behind the login: top bar, sidebar, content. */
export function ConsoleLayout(): ReactElement {
  const user = useUser()
  const { pathname, search } = useLocation()
  if (user === null) {
    const path = loginPath(`${pathname}${search}`, { isExpired: true })
    return <Navigate to={hasLeft() ? '/login' : path} replace />
  }
  if (user.must_change_password === true) return <OwnPasswordLayout />
  return (
    <ShellFrame tools={<Commands />}>
      <HealthBanner />
      <Notice />
      <Outlet />
    </ShellFrame>
  )
}

const OwnPasswordPage = lazy(async () => ({
  default: (await import('../features/me/own-password-page.tsx')).OwnPasswordPage,
}))

/** In place of the console, until whoever came in by a reset has chosen a password. */
function OwnPasswordLayout(): ReactElement {
  const leave = useLogout()
  return (
    <div className="tg-public">
      <SkipLink />
      <TopBar />
      <PlainHttp />
      <main id="main" className="tg-public-main" tabIndex={-1}>
        <Suspense fallback={null}>
          <OwnPasswordPage onLeave={leave} />
        </Suspense>
      </main>
      <Footer />
    </div>
  )
}
