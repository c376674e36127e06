/**
 * The number of lanes into which all streams are divided. It is also the number of partitions of
 * the Kafka topic. The streams of one account share a lane and keep their order, and lanes are
 * processed in parallel. A change of this number requires a rebuild of every read model and a new
 * topic.
 */
export const LANE_COUNT = 8

export const ALL_LANES: readonly number[] = [...Array(LANE_COUNT).keys()]

/**
 * Returns the part of a stream's name that determines its lane, such as `7` for both `account-7`
 * and `user-7`. A name without a hyphen is returned unchanged.
 */
export const laneKeyOf = (stream: string): string => stream.slice(stream.lastIndexOf('-') + 1)

/**
 * Computes the lane from the last three characters of the id. A numeric id has the lane `id %
 * LANE_COUNT`. The formula must never change, because offsets are stored per lane. The same formula
 * exists as SQL in `infra/event-store/event-reader.ts`.
 */
export function laneOf(stream: string): number {
  const from = stream.lastIndexOf('-') + 1
  const end = stream.length
  let sum = 0
  for (let place = 1; place <= 3 && end - place >= from; place += 1) {
    const code = stream.charCodeAt(end - place)
    // The character is half of a surrogate pair. An id with such a character is counted by code
    // points, because Postgres counts by code points.
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

type Stoppable = { readonly stop: () => Promise<void> }

/**
 * Tracks open resources, so that closing the bus also closes the resources that its callers left
 * open.
 */
export function createOpenResources() {
  const open = new Set<Stoppable>()
  return {
    track: <T extends Stoppable>(started: T): T => {
      const tracked = {
        ...started,
        stop: async () => {
          open.delete(tracked)
          await started.stop()
        },
      }
      open.add(tracked)
      return tracked
    },
    stopAll: async (): Promise<void> => {
      await Promise.all([...open].map(({ stop }) => stop()))
    },
  }
}
