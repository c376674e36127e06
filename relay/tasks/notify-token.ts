import { timingSafeEqual } from 'node:crypto'
import type { KnownTask } from '#domain/task/state.ts'
import type { RelayChannel } from '#relay/views/channel-view.ts'
import type { TaskParts } from './task-parts.ts'

/** Who may report on which task. */
export type Notifier = {
  readonly task: string
  readonly channelId: number
  readonly keyRef: string
}

type Parts = Pick<TaskParts, 'vault' | 'views'>

/**
 * Where a provider calls back about one task: the address itself is what proves that it was told
 * to. It holds for that task at that channel by that key, and for nothing else.
 */
export function notifyUrlOf(parts: Parts, notifier: Notifier): string {
  const { serverAddress } = parts.views.options.options.tasks
  const { task, channelId } = notifier
  return `${serverAddress}/mj/notify/${task}/${channelId}/${markOf(parts, notifier)}`
}

export const markOf = (
  { vault }: Pick<Parts, 'vault'>,
  { task, channelId, keyRef }: Notifier,
): string => vault.keyedHash('task-notify', `${task}/${channelId}/${keyRef}`)

/** null: nobody was ever told this address. */
export function notifierOf(
  parts: Parts,
  { task, channelId, mark }: { task: string; channelId: number; mark: string },
  known: KnownTask | null,
  channel: RelayChannel | undefined,
): Notifier | null {
  const refs = known?.place ? [known.place.keyRef] : (channel?.allKeys ?? []).map(keyRefOf)
  for (const keyRef of refs) {
    const notifier = { task, channelId, keyRef }
    if (isSameText(markOf(parts, notifier), mark)) return notifier
  }
  return null
}

const keyRefOf = ({ keyRef }: { readonly keyRef: string }): string => keyRef

function isSameText(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}
