import { timingSafeEqual } from 'node:crypto'
import type { KnownTask } from '#domain/task/decide.ts'
import type { TaskDeps } from './task-deps.ts'

/** Who may report on which task. */
export type Notifier = {
  readonly task: string
  readonly channelId: number
  readonly keyRef: string
}

type Deps = Pick<TaskDeps, 'vault' | 'views'>

/**
 * Where a provider calls back about one task: the address itself is what proves that it was told
 * to. It holds for that task at that channel by that key, and for nothing else.
 */
export function notifyUrlOf(deps: Deps, notifier: Notifier): string {
  const { serverAddress } = deps.views.options.options.tasks
  const { task, channelId, keyRef } = notifier
  return `${serverAddress}/mj/notify/${task}/${channelId}/${keyRef}/${markOf(deps, notifier)}`
}

export const markOf = (
  { vault }: Pick<Deps, 'vault'>,
  { task, channelId, keyRef }: Notifier,
): string => vault.keyedHash('task-notify', `${task}/${channelId}/${keyRef}`)

/** Whether somebody was told this address: it says itself, and nothing is read for strangers. */
export const isToldAddress = (deps: Deps, notifier: Notifier, mark: string): boolean =>
  isSameText(markOf(deps, notifier), mark)

/** A task that has its place is reported on from there alone. */
export const mayReport = ({ channelId, keyRef }: Notifier, { place }: KnownTask): boolean =>
  place === null || (place.channelId === channelId && place.keyRef === keyRef)

function isSameText(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}
