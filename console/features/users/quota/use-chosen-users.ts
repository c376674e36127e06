import { useState } from 'react'
import type { User } from '#read-api/contract/users.ts'
import { type Actor, actionsOn } from '../user-actions.ts'

const NONE: ReadonlySet<string> = new Set()

export type ChosenUsers = ReturnType<typeof useChosenUsers>

/** Which users of this page are selected, and whose balance this admin may change. */
export function useChosenUsers(rows: readonly User[], actor: Actor) {
  const [keys, setKeys] = useState(NONE)
  const picked = rows.filter(({ id }) => keys.has(String(id)))
  return {
    keys,
    picked,
    adjustable: picked.filter((user) => actionsOn(user, actor).has('adjust')),
    choose: (next: ReadonlySet<string>) => setKeys(next),
    chooseNone: () => setKeys(NONE),
  }
}
