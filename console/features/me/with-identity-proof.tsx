import { useTranslation } from 'react-i18next'
import { ApiError } from '#console/api/api-error.ts'
import { call } from '#console/api/client.ts'
import { CancelledError } from '#console/ui/dialogs/cancelled-error.ts'
import { createStore } from '#console/ui/state/store.ts'
import { IdentityProofDialog } from './identity-proof-dialog.tsx'
import { ReloginDialog } from './relogin-dialog.tsx'

type Answer = (isProven: boolean) => void
/**
 * A request for a proof of identity. If `mayProve` is false, the server requires a new login
 * instead of a proof.
 */
type Asked = { readonly mayProve: boolean; readonly answer: Answer }

const asked = createStore<Asked | null>(null)

const CODES: ReadonlySet<string> = new Set(['ProofNotRecent', 'LoginNotRecent'])

/**
 * Runs `act`. If the server requires a proof of identity, asks the user for it and runs `act`
 * again. Throws `CancelledError` if the user cancels.
 */
export async function withIdentityProof<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof ApiError) || !CODES.has(error.code)) throw error
    if (!(await ask(error.code === 'ProofNotRecent'))) throw new CancelledError()
    return act()
  }
}

/** Renders the dialogs of `withIdentityProof()`. A page contains this component once. */
export function IdentityProofHost() {
  const { t } = useTranslation()
  const question = asked.useValue()
  if (question === null) return null
  const { mayProve, answer } = question
  if (!mayProve) return <ReloginDialog onClose={() => answer(false)} />
  return (
    <IdentityProofDialog
      title={t('security.proofTitle')}
      lead={t('security.proofTitleLead')}
      submitText={t('security.continue')}
      act={async (proof) => {
        await call('POST /api/user/proof', { body: proof })
        answer(true)
      }}
      onClose={() => answer(false)}
    />
  )
}

function ask(mayProve: boolean): Promise<boolean> {
  asked.get()?.answer(false)
  return new Promise((resolve) => {
    const answer = (isProven: boolean) => {
      if (asked.get()?.answer === answer) asked.set(null)
      resolve(isProven)
    }
    asked.set({ mayProve, answer })
  })
}
