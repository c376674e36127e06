import type { ReactElement } from 'react'
import { Navigate, Outlet, useLocation } from 'react-router-dom'
import { loginPath } from '#console/api/auth/return-to.ts'
import { hasLeft } from '#console/api/session.ts'
import { useUser } from '#console/api/use-user.ts'
import { Commands } from './commands.tsx'
import { HealthBanner } from './health-banner.tsx'
import { Notice } from './notice.tsx'
import { OwnPasswordLayout } from './own-password-layout.tsx'
import { ShellFrame } from './shell-frame.tsx'

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
