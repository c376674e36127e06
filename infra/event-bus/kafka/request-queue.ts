import { createRequire } from 'node:module'

type RequestQueue = {
  readonly pending: readonly unknown[]
  scheduleCheckPendingRequests(this: RequestQueue): void
}

/**
 * Lets kafkajs look for requests that wait only where some do. As it is (2.2.4), every connection
 * looks each millisecond for as long as it is open, by a timer that Node warns of as negative
 * (`TimeoutNegativeWarning`). No option of kafkajs reaches it.
 *
 * A request that comes to wait is looked for from then on, by kafkajs itself. Where its source has
 * no such queue any more, nothing is done.
 */
export function calmRequestQueues(): void {
  const queue = findRequestQueue()
  const original = queue?.scheduleCheckPendingRequests
  if (queue === null || original === undefined || calmed.has(original)) return
  const schedule = function (this: RequestQueue): void {
    if (this.pending.length > 0) original.call(this)
  }
  calmed.add(schedule)
  queue.scheduleCheckPendingRequests = schedule
}

const calmed = new WeakSet<RequestQueue['scheduleCheckPendingRequests']>()

function findRequestQueue(): RequestQueue | null {
  try {
    const path = 'kafkajs/src/network/requestQueue/index.js'
    const found: { readonly prototype: RequestQueue } = createRequire(import.meta.url)(path)
    return found.prototype
  } catch {
    return null
  }
}
