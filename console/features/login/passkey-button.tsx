import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { passkeyLogin } from '#console/api/auth/passkey-login.ts'
import { arePasskeysPossible } from '#console/api/auth/passkeys.ts'
import { Button } from '#console/ui/button.tsx'
import { Refusal } from '#console/ui/refusal.tsx'
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
