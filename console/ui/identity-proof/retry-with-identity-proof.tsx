import { useTranslation } from 'react-i18next'
import { ApiError } from '#console/api/api-error.ts'
import { call } from '#console/api/client.ts'
import { CancelledError } from '#console/ui/messages/toast.ts'
import { createStore } from '#console/ui/state/create-store.ts'
import { IdentityProofDialog } from './identity-proof-fields.tsx'
import { ReloginDialog } from './relogin-dialog.tsx'

type Answer = (isProven: boolean) => void
/**
 * The dialog that is open. `mayProve` is false if the server does not accept a proof of identity
 * but requires a new login.
 */
type Question = { readonly mayProve: boolean; readonly answer: Answer }

const pendingQuestion = createStore<Question | null>(null)

const CODES: ReadonlySet<string> = new Set(['ProofNotRecent', 'LoginNotRecent'])

/**
 * Runs `perform`. If the server requires a proof of identity, asks the user for one and runs
 * `perform` again. If the server requires a new login, opens the dialog for it and does not run
 * `perform` again. Throws `CancelledError` if the user closes a dialog.
 */
export async function retryWithIdentityProof<T>(perform: () => Promise<T>): Promise<T> {
  try {
    return await perform()
  } catch (error) {
    if (!(error instanceof ApiError) || !CODES.has(error.code)) throw error
    if (!(await askForProof(error.code === 'ProofNotRecent'))) throw new CancelledError()
    return perform()
  }
}

export function IdentityProofHost() {
  const { t } = useTranslation()
  const question = pendingQuestion.useValue()
  if (question === null) return null
  const { mayProve, answer } = question
  if (!mayProve) return <ReloginDialog onClose={() => answer(false)} />
  return (
    <IdentityProofDialog
      title={t('credentials.proofTitle')}
      lead={t('credentials.proofTitleLead')}
      submitText={t('credentials.continue')}
      perform={async (proof) => {
        await call('POST /api/user/proof', { body: proof })
        answer(true)
      }}
      onClose={() => answer(false)}
    />
  )
}

function askForProof(mayProve: boolean): Promise<boolean> {
  pendingQuestion.get()?.answer(false)
  return new Promise((resolve) => {
    const answer = (isProven: boolean) => {
      if (pendingQuestion.get()?.answer === answer) pendingQuestion.set(null)
      resolve(isProven)
    }
    pendingQuestion.set({ mayProve, answer })
  })
}
