/**
 * Into so many lanes all streams are divided: what belongs to one account keeps its order in one
 * lane, and lanes are worked off side by side. Also the number of partitions of the Kafka topic.
 * Changing it asks for a rebuild of every read model and a new topic.
 */
export const LANE_COUNT = 8

export const ALL_LANES: readonly number[] = [...Array(LANE_COUNT).keys()]

/** `account-7`, `user-7` → `7`: the same id, the same lane. Others: by the whole of their name. */
export const laneKeyOf = (stream: string): string => stream.slice(stream.lastIndexOf('-') + 1)

/** FNV-1a over UTF-16 units: fixed for ever, since offsets are kept by lane. */
export function laneOf(stream: string): number {
  let hash = 0x811c9dc5
  const from = stream.lastIndexOf('-') + 1
  for (let index = from; index < stream.length; index += 1) {
    hash = Math.imul(hash ^ stream.charCodeAt(index), 0x01000193)
  }
  // The low bits of such a hash are the poorest.
  return ((hash ^ (hash >>> 15)) >>> 0) % LANE_COUNT
}
