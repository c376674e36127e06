import { type ReactElement, useSyncExternalStore } from 'react'

let text = ''
const listeners = new Set<() => void>()

/** Announces a text in a polite live region for screen readers. */
export function announce(message: string): void {
  text = message
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Renders the live region of `announce()`. The app renders it once. */
export function Announcer(): ReactElement {
  const message = useSyncExternalStore(subscribe, () => text)
  return <output className="tg-visually-hidden">{message}</output>
}
