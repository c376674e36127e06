/**
 * Into so many lanes all streams are divided: what belongs to one account keeps its order in one
 * lane, and lanes are worked off side by side. Also the number of partitions of the Kafka topic.
 * Changing it asks for a rebuild of every read model and a new topic.
 */
export const LANE_COUNT = 8

export const ALL_LANES: readonly number[] = [...Array(LANE_COUNT).keys()]

/** `account-7`, `user-7` → `7`: the same id, the same lane. Others: by the whole of their name. */
export const laneKeyOf = (stream: string): string => stream.slice(stream.lastIndexOf('-') + 1)

/**
 * By the last three characters of the id: for a number, the number modulo `LANE_COUNT`. Fixed for
 * ever, since offsets are kept by lane; and simple enough for a database to say the same
 * (`infra/event-store/event-rows.ts`).
 */
export function laneOf(stream: string): number {
  const from = stream.lastIndexOf('-') + 1
  const end = stream.length
  let sum = 0
  for (let place = 1; place <= 3 && end - place >= from; place += 1) {
    const code = stream.charCodeAt(end - place)
    // Half of a character: where such are, characters are counted, as a database does.
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

/** What a bus has under way, so that closing it stops whatever was not stopped before. */
export function createOpenWorks() {
  const open = new Set<Stoppable>()
  return {
    keep: <T extends Stoppable>(started: T): T => {
      const kept = {
        ...started,
        stop: async () => {
          open.delete(kept)
          await started.stop()
        },
      }
      open.add(kept)
      return kept
    },
    stopAll: async (): Promise<void> => {
      await Promise.all([...open].map(({ stop }) => stop()))
    },
  }
}
