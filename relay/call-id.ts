import { randomFillSync } from 'node:crypto'

const POOL_BYTES = 4_096
const pool = Buffer.alloc(POOL_BYTES)
let used = POOL_BYTES

/**
 * Returns a UUID v7 (RFC 9562), so that ids sort by time. `now` is in unix milliseconds. Random
 * bytes are drawn in blocks, because a system call for each id would be slow.
 */
export function newCallId(now: number): string {
  if (used + 10 > POOL_BYTES) {
    randomFillSync(pool)
    used = 0
  }
  const random = pool.toString('hex', used, used + 10)
  used += 10
  const time = now.toString(16).padStart(12, '0')
  const variant = '89ab'[Number.parseInt(random.slice(3, 4), 16) & 3]
  return (
    `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-` +
    `${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`
  )
}
