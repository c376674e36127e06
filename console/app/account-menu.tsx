import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router-dom'
import { call } from '#console/api/client.ts'
import { clearUser, startLogout } from '#console/api/session.ts'
import { MenuButton, type MenuEntry } from '#console/ui/elements/menu.tsx'
import { showError, showSuccess } from '#console/ui/messages/toast.ts'
import type { SessionUser } from '#read-api/contract/users.ts'

export function AccountMenu({ user }: { user: SessionUser }) {
  const { t } = useTranslation()
  const leave = useLogout()
  const navigate = useNavigate()
  const name = user.display_name || user.username
  const hasTwo = name !== user.username
  const festive: MenuEntry = {
    text: t('shell.newYear'),
    icon: 'zap',
    onSelect: () => showSuccess(t('shell.newYearWish')),
  }
  return (
    <MenuButton
      items={[
        {
          head: (
            <>
              <strong>{name}</strong>
              {hasTwo && <span>@{user.username}</span>}
            </>
          ),
        },
        ...(isNewYear(new Date()) ? [festive] : []),
        { text: t('shell.start'), icon: 'play', onSelect: () => void navigate('/app/start') },
        { text: t('shell.me'), icon: 'user', onSelect: () => void navigate('/app/me') },
        { text: t('shell.logout'), icon: 'logOut', onSelect: leave },
      ]}
    >
      <button type="button" className="tg-account">
        <span className="tg-visually-hidden">
          {`${t('shell.account')}: ${name}${hasTwo ? ` (@${user.username})` : ''}`}
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

/** The session in this browser ends even if the server can't be reached. */
export function useLogout(): () => void {
  const { t } = useTranslation()
  const client = useQueryClient()
  const navigate = useNavigate()
  return () => {
    startLogout()
    // Cancel pending requests, because they would receive a 401 after the logout.
    void client.cancelQueries()
    call('GET /api/user/logout')
      .then(
        () => showSuccess(t('auth.loggedOut'), { goesAlong: true }),
        (error) => showError(error, { goesAlong: true }),
      )
      .finally(() => {
        clearUser()
        client.clear()
        void navigate('/login', { replace: true })
      })
  }
}
