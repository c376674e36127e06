import { useSyncExternalStore } from 'react'

let text = ''
const listeners = new Set<() => void>()

/** Announces a text to screen readers, without interrupting them. */
export function announce(message: string): void {
  text = message
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The live region of `announce()`. The app contains this component once. */
export function Announcer() {
  const message = useSyncExternalStore(subscribe, () => text)
  return <output className="tg-visually-hidden">{message}</output>
}
