import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { arePasskeysPossible, showPasskey } from '#console/api/auth/passkeys.ts'
import { request } from '#console/api/request.ts'
import { Button } from '#console/ui/button.tsx'
import { Refusal } from '#console/ui/refusal.tsx'
import type { SessionUser } from '#read-api/contract/user.ts'
import type { PasskeyOptions } from '#write-api/contract/credentials.ts'
import { useEnter } from './use-enter.ts'
import { useOnce } from './use-once.ts'

/** In by a passkey alone; nothing where this browser has none to offer. */
export function PasskeyButton(): ReactElement | null {
  const { t } = useTranslation()
  const enter = useEnter()
  const { isBusy, refusal, run } = useOnce()
  if (!arePasskeysPossible()) return null
  return (
    <div className="tg-entry-passkey">
      <Button
        icon="key"
        size="large"
        isFill
        isBusy={isBusy}
        onClick={() => void run(async () => enter(await passkeyLogin()))}
      >
        {t('auth.passkeyIn')}
      </Button>
      <Refusal text={refusal} />
    </div>
  )
}

/** Has the browser ask for any passkey of this site, and logs in with it. */
async function passkeyLogin(): Promise<SessionUser> {
  const begun = await request<PasskeyOptions>({
    method: 'POST',
    path: '/api/user/login/passkey/begin',
  })
  const { data } = await request<SessionUser>({
    method: 'POST',
    path: '/api/user/login/passkey',
    body: { passkey: await showPasskey(begun.data) },
  })
  return data
}
