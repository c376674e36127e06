import { timingSafeEqual } from 'node:crypto'
import type { TaskRecord } from '#domain/tasks/decide.ts'
import type { TaskDeps } from './task-deps.ts'

/**
 * The task, channel and key for which a callback URL was issued. A provider sends its reports on
 * the task to this URL.
 */
export type CallbackSource = {
  readonly task: string
  readonly channelId: number
  readonly keyRef: string
}

type Deps = Pick<TaskDeps, 'vault' | 'views'>

/**
 * Returns the signed callback URL for one task at one channel with one key. The signature proves
 * that this site issued the URL.
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

/**
 * Reports whether the signature of a callback URL is valid. Callers check the signature first, so
 * that a forged URL causes no read of a task.
 */
export const isSignatureValid = (deps: Deps, source: CallbackSource, signature: string): boolean =>
  isSameText(callbackSignature(deps, source), signature)

/**
 * Reports whether a callback from this channel and key may change the task. Once it is known which
 * channel and key accepted the task, only callbacks from this channel and key may change it.
 */
export const mayReport = ({ channelId, keyRef }: CallbackSource, { place }: TaskRecord): boolean =>
  place === null || (place.channelId === channelId && place.keyRef === keyRef)

function isSameText(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}
