import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router-dom'
import { call } from '#console/api/client.ts'
import { clearUser, startLogout } from '#console/api/session.ts'
import type { Action } from '#console/ui/actions/action-registry.ts'
import { MenuButton } from '#console/ui/elements/menu.tsx'
import { showError, showSuccess } from '#console/ui/messages/toast.ts'
import type { SessionUser } from '#read-api/contract/users.ts'

export function AccountMenu({ user }: { user: SessionUser }) {
  const { t } = useTranslation()
  const { start, logout } = useAccountActions()
  const navigate = useNavigate()
  const name = user.display_name || user.username
  const isUsernameShown = name !== user.username
  const festive: Action = {
    title: t('shell.newYear'),
    icon: 'zap',
    perform: () => showSuccess(t('shell.newYearWish')),
  }
  return (
    <MenuButton
      items={[
        {
          head: (
            <>
              <strong>{name}</strong>
              {isUsernameShown && <span>@{user.username}</span>}
            </>
          ),
        },
        ...(isNewYear(new Date()) ? [festive] : []),
        start,
        { title: t('shell.me'), icon: 'user', perform: () => void navigate('/app/me') },
        logout,
      ]}
    >
      <button type="button" className="tg-account">
        <span className="tg-visually-hidden">
          {`${t('shell.account')}: ${name}${isUsernameShown ? ` (@${user.username})` : ''}`}
        </span>
        <span className="tg-avatar" aria-hidden="true">
          {[...name][0]?.toUpperCase()}
        </span>
        <span className="tg-account-name" aria-hidden="true">
          {name}
        </span>
      </button>
    </MenuButton>
  )
}

const isNewYear = (today: Date): boolean => today.getMonth() === 0 && today.getDate() === 1

/** Returns the actions of the account menu. The command palette also shows these actions. */
export function useAccountActions() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const leave = useLogout()
  const start = { id: 'go-start', title: t('shell.start'), icon: 'play' } as const
  const logout = { id: 'log-out', title: t('shell.logout'), icon: 'logOut' } as const
  return {
    start: { ...start, perform: () => void navigate('/app/start') },
    logout: { ...logout, perform: leave },
  }
}

/** Returns a function that logs out. The session in this browser ends even if the request fails. */
export function useLogout(): () => void {
  const { t } = useTranslation()
  const client = useQueryClient()
  const navigate = useNavigate()
  return () => {
    startLogout()
    // Cancels pending requests, because they would receive a 401 after the logout.
    void client.cancelQueries()
    call('GET /api/user/logout', { isLive: true })
      .then(
        () => showSuccess(t('auth.loggedOut'), { staysOnNavigation: true }),
        (error) => showError(error, { staysOnNavigation: true }),
      )
      .finally(() => {
        clearUser()
        client.clear()
        void navigate('/login', { replace: true })
      })
  }
}
