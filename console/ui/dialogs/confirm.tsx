import { type ReactElement, useSyncExternalStore } from 'react'
import { ConfirmDialog, type ConfirmWords } from './confirm-dialog.tsx'

type Question = { words: ConfirmWords; isOpen: boolean; answer: (isConfirmed: boolean) => void }

let question: Question | null = null
const listeners = new Set<() => void>()

/** Opens a dialog and resolves to the user's answer, or to false if the dialog is closed. */
export function confirm(words: ConfirmWords): Promise<boolean> {
  question?.answer(false)
  return new Promise((resolve) => {
    const answer = (isConfirmed: boolean) => {
      // Keep the text while the dialog fades out.
      if (question?.answer === answer) show({ words, isOpen: false, answer })
      resolve(isConfirmed)
    }
    show({ words, isOpen: true, answer })
  })
}

/** The dialog of `confirm()`. The app contains this component once. */
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
