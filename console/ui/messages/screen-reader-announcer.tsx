import { createStore } from '../state/create-store.ts'

const message = createStore('')

/** Announces a text to screen readers without interrupting them. */
export const announce = (text: string): void => message.set(text)

export function Announcer() {
  return <output className="tg-visually-hidden">{message.useValue()}</output>
}
