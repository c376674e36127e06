import type { LiveMessage } from '../contract/live.ts'
import type { LiveItem } from './ring.ts'

type Changed = { readonly id: number; readonly position: number }

/** That users were made or changed, for admins: whoever sees them reads what became of them. */
export const userItems = (changed: readonly Changed[]): LiveItem[] =>
  changed.map(({ id, position }) => {
    const message: LiveMessage = { type: 'event', topic: 'users', position, data: { id } }
    const text = JSON.stringify(message)
    return { topic: 'users', position, ownerId: null, textFor: () => text }
  })
