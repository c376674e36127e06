import { type ReactElement, useSyncExternalStore } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '#console/api/api-error.ts'
import { proveSession } from '#console/api/security/prove-session.ts'
import { GivenUp } from '#console/ui/given-up.ts'
import { ProofDialog } from './proof-dialog.tsx'

type Answer = (isProven: boolean) => void

let asked: Answer | null = null
const listeners = new Set<() => void>()

/**
 * Runs `act`. Where the login is too long ago for it, asks for a proof of who that is, and runs it
 * again; `GivenUp` is thrown where there is none.
 */
export async function proven<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'ProofNotRecent') throw error
    if (!(await ask())) throw new GivenUp()
    return act()
  }
}

/** Rendered once, by the page. */
export function ProofHost(): ReactElement | null {
  const { t } = useTranslation()
  const answer = useSyncExternalStore(subscribe, () => asked)
  if (answer === null) return null
  return (
    <ProofDialog
      title={t('security.proofTitle')}
      lead={t('security.proofTitleLead')}
      submitText={t('security.continue')}
      act={async (proof) => {
        await proveSession(proof)
        answer(true)
      }}
      onClose={() => answer(false)}
    />
  )
}

function ask(): Promise<boolean> {
  asked?.(false)
  return new Promise((resolve) => {
    const answer = (isProven: boolean) => {
      if (asked === answer) show(null)
      resolve(isProven)
    }
    show(answer)
  })
}

function show(next: Answer | null): void {
  asked = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
