import { useTranslation } from 'react-i18next'
import { login } from '#console/api/auth/login.ts'
import { showInfo } from '#console/ui/toast.ts'
import type { SecondFactorNeeded } from '#write-api/contract/session.ts'
import type { Login } from '#write-api/contract/setup.ts'
import { useEnter } from './use-enter.ts'
import { useOnce } from './use-once.ts'

/** Logs in once at a time; a second press while one is under way is told so and does nothing. */
export function useLogin(onNeeded: (needed: SecondFactorNeeded) => void) {
  const { t } = useTranslation()
  const enter = useEnter()
  const { isBusy, isUnderWay, refusal, run } = useOnce()
  const logIn = (credentials: Login, takeToken: () => string | null): void => {
    if (isUnderWay()) return showInfo(t('auth.repeated'))
    const token = takeToken()
    if (token === null) return
    void run(async () => {
      const entered = await login(credentials, token)
      if ('second_factor' in entered) onNeeded(entered)
      else await enter(entered, { isDefaultLogin: isDefaultLogin(credentials) })
    })
  }
  return { logIn, isBusy, refusal }
}

/** The pair that such systems have shipped with, known to everybody. */
const isDefaultLogin = ({ username, password }: Login): boolean =>
  username === 'root' && password === '123456'
