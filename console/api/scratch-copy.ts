import { useSyncExternalStore } from 'react'
import type { ScratchCopy } from '#read-api/contract/scratch-copies.ts'
import { AUDITOR } from '#read-api/contract/user-roles-and-statuses.ts'
import { parseObject } from './parse-json-object.ts'
import { storedUser } from './session.ts'

/**
 * The scratch copy that this tab shows. A scratch copy is a copy of the site's data as of an
 * earlier event (`position`), with which auditors look at the past. `as_of` is the time of that
 * event in Unix seconds.
 */
type CurrentScratchCopy = Pick<ScratchCopy, 'id' | 'position' | 'as_of'> & {
  readonly userId: number
}

const KEY = 'scratch-copy'
export const COPIES_PAGE = '/app/audit/proofs?tab=copies'
const FIRST_PAGE = '/app/logs/api-usage'

let cached: { text: string | null; copy: CurrentScratchCopy | null } = { text: null, copy: null }

/**
 * Returns the scratch copy that is open in this tab, or null if the tab shows the live site. While
 * a copy is open, all requests without `isLive` read from this copy. The stored copy grants no
 * permission, because the server checks each request.
 */
export function currentScratchCopy(): CurrentScratchCopy | null {
  const text = sessionStorage.getItem(KEY)
  if (text !== cached.text) cached = { text, copy: parseCopy(text) }
  const user = storedUser()
  const isOwnCopy = user !== null && user.role >= AUDITOR && user.id === cached.copy?.userId
  return isOwnCopy ? cached.copy : null
}

/**
 * Opens a scratch copy (the site as of an earlier time) and reloads the console, so that no live
 * data stays on the screen.
 */
export function openScratchCopy({ id, position, as_of }: ScratchCopy): void {
  const copy: CurrentScratchCopy = { id, position, as_of, userId: storedUser()?.id ?? 0 }
  sessionStorage.setItem(KEY, JSON.stringify(copy))
  window.location.assign(FIRST_PAGE)
}

/** Closes the scratch copy and returns to the live site. */
export function closeScratchCopy(): void {
  sessionStorage.removeItem(KEY)
  window.location.assign(COPIES_PAGE)
}

/**
 * Returns the time that screens use as the current time, in Unix seconds. While a scratch copy is
 * open, this is the time of the copy.
 */
export const currentSeconds = (): number =>
  currentScratchCopy()?.as_of ?? Math.floor(Date.now() / 1_000)

let deletedId = ''
const listeners = new Set<() => void>()

/** Records that the server has deleted the scratch copy that is open. */
export function markScratchCopyDeleted(): void {
  deletedId = currentScratchCopy()?.id ?? ''
  for (const listener of listeners) listener()
}

function onCopyDeleted(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Reports whether the server has deleted the scratch copy that is open. */
export const useIsScratchCopyDeleted = (): boolean =>
  useSyncExternalStore(
    onCopyDeleted,
    () => deletedId !== '' && deletedId === currentScratchCopy()?.id,
  )

function parseCopy(text: string | null): CurrentScratchCopy | null {
  const copy: Partial<CurrentScratchCopy> | null = text === null ? null : parseObject(text)
  const isCopy =
    typeof copy?.id === 'string' &&
    Number.isInteger(copy.position) &&
    Number.isInteger(copy.as_of) &&
    Number.isInteger(copy.userId)
  return isCopy ? (copy as CurrentScratchCopy) : null
}
