import { timingSafeEqual } from 'node:crypto'
import type { TaskRecord } from '#domain/task/decide.ts'
import type { TaskDeps } from './task-deps.ts'

/** The sender of a callback: a channel and key, and the task it may report on. */
export type CallbackSource = {
  readonly task: string
  readonly channelId: number
  readonly keyRef: string
}

type Deps = Pick<TaskDeps, 'vault' | 'views'>

/**
 * Returns the address at which a provider calls back about one task. The address contains a
 * signature that proves that this site issued it. It is valid for one task at one channel with one
 * key.
 */
export function callbackUrl(deps: Deps, source: CallbackSource): string {
  const { serverAddress } = deps.views.options.options.tasks
  const { task, channelId, keyRef } = source
  const signature = callbackSignature(deps, source)
  return `${serverAddress}/mj/notify/${task}/${channelId}/${keyRef}/${signature}`
}

export const callbackSignature = (
  { vault }: Pick<Deps, 'vault'>,
  { task, channelId, keyRef }: CallbackSource,
): string => vault.keyedHash('task-notify', `${task}/${channelId}/${keyRef}`)

/** Verifies the signature of an address, so that nothing is read for other addresses. */
export const isSignedAddress = (deps: Deps, source: CallbackSource, signature: string): boolean =>
  isSameText(callbackSignature(deps, source), signature)

/** A task whose provider is known may be reported on only by that channel and key. */
export const mayReport = ({ channelId, keyRef }: CallbackSource, { place }: TaskRecord): boolean =>
  place === null || (place.channelId === channelId && place.keyRef === keyRef)

function isSameText(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}
