/**
 * All streams are divided into this many lanes: the streams of one account share a lane and keep
 * their order, and lanes are processed in parallel. It is also the number of partitions of the
 * Kafka topic. Changing it requires a rebuild of every read model and a new topic.
 */
export const LANE_COUNT = 8

export const ALL_LANES: readonly number[] = [...Array(LANE_COUNT).keys()]

/**
 * Maps `account-7` and `user-7` to `7`, so that one id has one lane; other names map to themselves.
 */
export const laneKeyOf = (stream: string): string => stream.slice(stream.lastIndexOf('-') + 1)

/**
 * Computes the lane from the last three characters of the id; for a number it is the number modulo
 * `LANE_COUNT`. The formula is fixed for ever, because offsets are stored per lane, and simple
 * enough to be repeated in SQL (`infra/event-store/event-rows.ts`).
 */
export function laneOf(stream: string): number {
  const from = stream.lastIndexOf('-') + 1
  const end = stream.length
  let sum = 0
  for (let place = 1; place <= 3 && end - place >= from; place += 1) {
    const code = stream.charCodeAt(end - place)
    // A surrogate: ids with such characters are counted by code point, as the database does.
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

/** Tracks what a bus has open, so that closing the bus stops what has not been stopped before. */
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
