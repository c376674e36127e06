import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { showInfo } from '#console/ui/messages/toast.ts'
import type { Login, SecondFactorRequired } from '#write-api/contract/login.ts'
import { useEnter } from './use-enter.ts'
import { useOnce } from './use-once.ts'

/** The most common passwords in lower case, and default passwords of similar products. */
const COMMON: ReadonlySet<string> = new Set([
  '123456',
  '12345678',
  '123456789',
  '1234567890',
  '0123456789',
  '987654321',
  '87654321',
  '11111111',
  '00000000',
  '88888888',
  '66666666',
  '12341234',
  '11223344',
  '147258369',
  '123123123',
  '1q2w3e4r',
  '1qaz2wsx',
  'qwertyui',
  'qwertyuiop',
  'qwerty123',
  'asdfghjkl',
  'zxcvbnm123',
  'abcd1234',
  'abc12345',
  'a1234567',
  'a12345678',
  'aa123456',
  'iloveyou',
  'password',
  'password1',
  'password123',
  'passw0rd',
  'p@ssw0rd',
  'p@ssword',
  'admin123',
  'admin1234',
  'admin888',
  'admin123456',
  'administrator',
  'root1234',
  'root12345',
  'root123456',
  'rootroot',
  'changeme',
  'letmein123',
  'welcome1',
  'welcome123',
  'sunshine',
  'princess',
  'football',
  'superman',
  'default1',
  'tallygate',
])

const isCommonPassword = (password: string): boolean => COMMON.has(password.toLowerCase())

/** The second factor that the server requires, and whether the password is a common one. */
export type Asked = SecondFactorRequired['second_factor'] & { readonly isCommonPassword?: boolean }
export type OnNeeded = (needed: Asked) => void

/** Runs one login at a time. A second submit before the response only shows a message. */
export function useLogin(onNeeded: OnNeeded) {
  const { t } = useTranslation()
  const enter = useEnter()
  const { isBusy, isUnderWay, refusal, run } = useOnce()
  const logIn = (credentials: Login, takeToken: () => string | null): void => {
    if (isUnderWay()) return showInfo(t('auth.repeated'))
    const token = takeToken()
    if (token === null) return
    void run(async () => {
      const entered = await call('POST /api/user/login', {
        query: { turnstile: token },
        body: credentials,
      })
      // The browser checks this, because the server stores nothing about a password's strength.
      const by = { isCommonPassword: isCommonPassword(credentials.password) }
      if ('second_factor' in entered) onNeeded({ ...entered.second_factor, ...by })
      else await enter(entered, by)
    })
  }
  return { logIn, isBusy, refusal }
}
