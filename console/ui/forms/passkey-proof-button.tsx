import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { arePasskeysSupported, promptForPasskeyProof } from '#console/api/auth/browser-passkeys.ts'
import { credentialsQuery } from '#console/api/own-user-group-and-model-queries.ts'
import type { ProofOnly } from '#write-api/contract/credentials.ts'
import { Button } from '../elements/button.tsx'
import { useSubmit } from './use-submit.ts'

export function PasskeyProofButton(props: { perform: (proof: ProofOnly) => Promise<void> }) {
  const { t } = useTranslation()
  const hasPasskey = (useQuery(credentialsQuery).data?.passkeys.length ?? 0) > 0
  const { isBusy, submit } = useSubmit(async () => props.perform(await promptForPasskeyProof()))
  if (!hasPasskey || !arePasskeysSupported()) return null
  return (
    <Button tone="quiet" size="small" icon="key" isBusy={isBusy} onClick={() => void submit()}>
      {t('auth.usePasskey')}
    </Button>
  )
}
