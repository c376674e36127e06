import { setTimeout as delay } from 'node:timers/promises'
import type { FlushConnection } from './flush.ts'

export type CommitListener = { readonly close: () => Promise<void> }

const REOPEN_AFTER_MS = 200

/**
 * Keeps the connection open on which other processes' commits are heard of. One that was lost is
 * opened again; `onOpened` then has to look for what was missed meanwhile.
 */
export function keepListening(
  connection: FlushConnection,
  onOpened: () => Promise<void>,
): CommitListener {
  let isClosed = false
  const closing = Promise.withResolvers<void>()
  const listen = async (): Promise<void> => {
    const { ended } = await connection.open()
    await onOpened()
    await Promise.race([ended, closing.promise])
  }
  const run = async (): Promise<void> => {
    while (!isClosed) {
      await listen().catch(() => {})
      await Promise.race([delay(REOPEN_AFTER_MS, undefined, { ref: false }), closing.promise])
    }
  }
  const running = run()
  return {
    close: async () => {
      isClosed = true
      closing.resolve()
      connection.drop()
      await running
    },
  }
}
