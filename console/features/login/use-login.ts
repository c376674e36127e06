import { useTranslation } from 'react-i18next'
import { request } from '#console/api/request.ts'
import { showInfo } from '#console/ui/toast.ts'
import type { Entered, SecondFactorNeeded } from '#write-api/contract/session.ts'
import type { Login } from '#write-api/contract/setup.ts'
import { isCommonPassword } from './common-password.ts'
import { useEnter } from './use-enter.ts'
import { useOnce } from './use-once.ts'

/** What is asked for, and by what password. */
export type Asked = SecondFactorNeeded['second_factor'] & { readonly isCommonPassword?: boolean }
export type OnNeeded = (needed: Asked) => void

/** Logs in once at a time; a second press while one is under way is told so and does nothing. */
export function useLogin(onNeeded: OnNeeded) {
  const { t } = useTranslation()
  const enter = useEnter()
  const { isBusy, isUnderWay, refusal, run } = useOnce()
  const logIn = (credentials: Login, takeToken: () => string | null): void => {
    if (isUnderWay()) return showInfo(t('auth.repeated'))
    const token = takeToken()
    if (token === null) return
    void run(async () => {
      const entered = await login(credentials, token)
      // Judged here, where it is typed: the server keeps nothing that it could be told by.
      const by = { isCommonPassword: isCommonPassword(credentials.password) }
      if ('second_factor' in entered) onNeeded({ ...entered.second_factor, ...by })
      else await enter(entered, by)
    })
  }
  return { logIn, isBusy, refusal }
}

/** `turnstile`: the token of the human check; empty while none is asked for. */
async function login(credentials: Login, turnstile: string): Promise<Entered> {
  const { data } = await request<Entered>({
    method: 'POST',
    path: '/api/user/login',
    query: { turnstile },
    body: credentials,
  })
  return data
}
