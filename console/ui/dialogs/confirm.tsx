import { type ReactElement, useSyncExternalStore } from 'react'
import { ConfirmDialog, type ConfirmWords } from './confirm-dialog.tsx'

type Question = { words: ConfirmWords; isOpen: boolean; answer: (isConfirmed: boolean) => void }

let question: Question | null = null
const listeners = new Set<() => void>()

/** Opens a confirmation dialog and resolves to the answer. Closing the dialog resolves to false. */
export function confirm(words: ConfirmWords): Promise<boolean> {
  question?.answer(false)
  return new Promise((resolve) => {
    const answer = (isConfirmed: boolean) => {
      // Keep the text until the dialog has faded out.
      if (question?.answer === answer) show({ words, isOpen: false, answer })
      resolve(isConfirmed)
    }
    show({ words, isOpen: true, answer })
  })
}

/** Renders the dialog of `confirm()`. The app renders it once. */
export function ConfirmHost(): ReactElement | null {
  const asked = useSyncExternalStore(subscribe, () => question)
  if (asked === null) return null
  return (
    <ConfirmDialog
      {...asked.words}
      isOpen={asked.isOpen}
      onConfirm={() => asked.answer(true)}
      onCancel={() => asked.answer(false)}
    />
  )
}

function show(next: Question): void {
  question = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
