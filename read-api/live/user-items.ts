import type { LiveMessage } from '../contract/live.ts'
import type { LiveItem } from './ring.ts'

type Changed = { readonly id: number; readonly position: number }

/** That users were made or changed, for admins: what became of them is read by whoever sees them. */
export const userItems = (changed: readonly Changed[]): LiveItem[] =>
  changed.map(({ id, position }) => {
    const message: LiveMessage = { type: 'event', topic: 'users', position, data: { id } }
    const text = JSON.stringify(message)
    return { topic: 'users', position, ownerId: null, textFor: () => text }
  })
