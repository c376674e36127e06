/**
 * The number of lanes (partitions) into which all streams and the Kafka topic are divided. Streams
 * with the same id, such as `account-7` and `tokens-7`, share a lane, so the order of their events
 * is kept. A change of this number requires a rebuild of every read model and a new topic.
 */
export const LANE_COUNT = 8

export const ALL_LANES: readonly number[] = [...Array(LANE_COUNT).keys()]

/** Returns the part of a stream's name that determines its lane: `7` for `account-7`. */
export const laneKeyOf = (stream: string): string => stream.slice(stream.lastIndexOf('-') + 1)

/**
 * Computes the lane from the last three characters of the id at the end of the stream's name. For a
 * numeric id, the lane is `id % LANE_COUNT`. The formula must never change, because offsets are
 * stored per lane. The same formula exists as SQL in `infra/event-store/postgres-event-reader.ts`.
 */
export function laneOf(stream: string): number {
  const from = stream.lastIndexOf('-') + 1
  const end = stream.length
  let sum = 0
  for (let place = 1; place <= 3 && end - place >= from; place += 1) {
    const code = stream.charCodeAt(end - place)
    // Postgres counts code points. If a character is half of a surrogate pair, this function must
    // count code points as well.
    if (code >= 0xd800 && code <= 0xdfff) return laneOfCharacters([...stream.slice(from)])
    sum += code << (place - 1)
  }
  return sum % LANE_COUNT
}

function laneOfCharacters(id: readonly string[]): number {
  const last = id.slice(-3).reverse()
  const codes = last.map((character, index) => (character.codePointAt(0) ?? 0) << index)
  return codes.reduce((sum, code) => sum + code, 0) % LANE_COUNT
}
