import { useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { arePasskeysPossible } from '#console/api/auth/passkeys.ts'
import { proveByPasskey } from '#console/api/security/prove-by-passkey.ts'
import { securityQuery } from '#console/api/security/security.ts'
import { Button } from '#console/ui/button.tsx'
import { useSubmit } from '#console/ui/use-submit.ts'
import type { UpdateSelf } from '#write-api/contract/user.ts'

/** In place of a code: saves in the same press. Nothing where there is no passkey to show. */
export function PasskeyProof(props: {
  onProved: (proof: UpdateSelf) => Promise<void>
}): ReactElement | null {
  const { t } = useTranslation()
  const has = (useQuery(securityQuery).data?.passkeys.length ?? 0) > 0
  const { isBusy, submit } = useSubmit(async () => {
    const { passkey } = await proveByPasskey()
    await props.onProved(passkey === undefined ? {} : { passkey })
  })
  if (!has || !arePasskeysPossible()) return null
  return (
    <Button tone="quiet" size="small" icon="key" isBusy={isBusy} onClick={() => void submit()}>
      {t('auth.usePasskey')}
    </Button>
  )
}
