import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useSyncExternalStore } from 'react'
import { useTranslation } from 'react-i18next'
import { Navigate, Outlet, useLocation } from 'react-router-dom'
import { loginPath } from '../api/auth/login-return-path.ts'
import { currentScratchCopy } from '../api/scratch-copy.ts'
import {
  currentServerAvailability,
  onServerAvailabilityChange,
} from '../api/server-availability.ts'
import { isLoggingOut, useUser } from '../api/session.ts'
import { Button } from '../ui/elements/button.tsx'
import { Icon } from '../ui/elements/icons.tsx'
import { useSecondsLeft } from '../ui/state/use-countdown.ts'
import { useLogout } from './account-menu.tsx'
import { CommandPaletteButton } from './command-palette-button.tsx'
import { Footer, PlainHttpWarning, SkipLink } from './footer-skip-link-and-http-warning.tsx'
import { worksInScratchCopies } from './navigation.ts'
import { Notice } from './notice.tsx'
import { NotInCopyPage, ScratchCopyBanner } from './scratch-copy-banner.tsx'
import { ShellFrame } from './shell-frame.tsx'
import { TopBar } from './top-bar.tsx'

/**
 * A banner that is shown while the browser is offline, or while the server is unreachable, busy or
 * down. A button reads the data of the open page again. The button is hidden while the browser is
 * offline, and until the time to retry that a busy server has named.
 */
function ServerUnavailableBanner() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const health = useSyncExternalStore(onServerAvailabilityChange, currentServerAvailability)
  const isOnline = useSyncExternalStore(onNetwork, () => navigator.onLine)
  const kind = isOnline ? health.kind : 'offline'
  const seconds = useSecondsLeft(health.kind === 'busy' ? health.until : null)
  const retry = () => void client.refetchQueries({ type: 'active' })
  return (
    <div role="status" className="tg-health">
      {kind === 'fine' ? null : (
        <p className="tg-alert">
          <Icon name="alert" />
          <span>{t(`request.health.${kind}`)}</span>
          {seconds > 0 && kind === 'busy' ? (
            <span>{t('request.retryIn', { seconds })}</span>
          ) : (
            kind !== 'offline' && (
              <Button tone="quiet" size="small" icon="refresh" onClick={retry}>
                {t('ui.retry')}
              </Button>
            )
          )}
        </p>
      )}
    </div>
  )
}

function onNetwork(listener: () => void): () => void {
  window.addEventListener('online', listener)
  window.addEventListener('offline', listener)
  return () => {
    window.removeEventListener('online', listener)
    window.removeEventListener('offline', listener)
  }
}

export function ConsoleLayout() {
  const user = useUser()
  const { pathname, search } = useLocation()
  if (user === null) {
    const path = loginPath(`${pathname}${search}`, { isExpired: true })
    return <Navigate to={isLoggingOut() ? '/login' : path} replace />
  }
  if (user.must_change_password === true) return <OwnPasswordLayout />
  return (
    <ShellFrame tools={<CommandPaletteButton />}>
      <ScratchCopyBanner />
      <ServerUnavailableBanner />
      <Notice />
      {currentScratchCopy() === null || worksInScratchCopies(pathname) ? (
        <Outlet />
      ) : (
        <NotInCopyPage />
      )}
    </ShellFrame>
  )
}

const ForcedPasswordChangePage = lazy(async () => ({
  default: (await import('../features/me/forced-password-change-page.tsx'))
    .ForcedPasswordChangePage,
}))

/**
 * The page for a user whose password an admin has reset. Before choosing a new password, the user
 * sees no other page.
 */
function OwnPasswordLayout() {
  const leave = useLogout()
  return (
    <div className="tg-public">
      <SkipLink />
      <TopBar />
      <PlainHttpWarning />
      <main id="main" className="tg-public-main" tabIndex={-1}>
        <Suspense fallback={null}>
          <ForcedPasswordChangePage onLeave={leave} />
        </Suspense>
      </main>
      <Footer />
    </div>
  )
}
