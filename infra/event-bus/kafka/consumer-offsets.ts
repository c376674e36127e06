import type { Consumer } from 'kafkajs'

const COMMIT_EVERY_MS = 1_000

/**
 * A period during which a lane is assigned to the same member without interruption. During this
 * period, no other member commits offsets of the lane.
 */
type Assignment = {
  /** The lowest offset that was received in this period, or null if none was. */
  firstOffset: bigint | null
}

/**
 * Commits offsets periodically, for lag metrics and as the start position of the next consumer. An
 * offset is committed only in the assignment in which its message was received, although the broker
 * would also accept a later commit. After the assignment, another member may have consumed the lane
 * and committed a later offset. A commit of the earlier offset would move the lane back.
 */
export function createOffsets(topic: string, current: () => Consumer | null) {
  const offsets = new Map<number, string>()
  let assignments: ReadonlyMap<number, Assignment> = new Map()
  let member: string | null = null
  const commit = async (): Promise<void> => {
    const due = [...offsets]
    const consumer = current()
    if (due.length === 0 || consumer === null) return
    offsets.clear()
    const before = assignments
    const places = due.map(([partition, offset]) => ({ topic, partition, offset }))
    await consumer.commitOffsets(places).catch(() => {
      // The group may be rebalancing. Without another attempt, an idle lane would show a lag until
      // its next message.
      for (const [lane, offset] of due) {
        const isSame = assignments.has(lane) && assignments.get(lane) === before.get(lane)
        if (isSame && !offsets.has(lane)) offsets.set(lane, offset)
      }
    })
  }
  const committing = setInterval(() => void commit(), COMMIT_EVERY_MS)
  return {
    commit,
    /**
     * Sets the lanes of this member, and forgets the offsets of all other lanes. A new member id
     * means that this process had left the group, and that other members may have had the lanes of
     * this process meanwhile.
     */
    assign: (memberId: string, lanes: readonly number[]): void => {
      const kept = memberId === member ? assignments : new Map<number, Assignment>()
      assignments = new Map(lanes.map((lane) => [lane, kept.get(lane) ?? { firstOffset: null }]))
      member = memberId
      for (const lane of offsets.keys())
        if (!kept.has(lane) || !assignments.has(lane)) offsets.delete(lane)
    },
    onReceived: (lane: number, firstOffset: string): void => {
      const assignment = assignments.get(lane)
      const offset = BigInt(firstOffset)
      if (assignment === undefined) return
      const { firstOffset: lowest } = assignment
      // A topic that is created again begins with lower offsets.
      assignment.firstOffset = lowest === null || offset < lowest ? offset : lowest
    },
    /**
     * Schedules the commit of the offset after `offset`. Ignores a message that was received in an
     * earlier assignment of the lane.
     */
    done: (lane: number, offset: string): void => {
      const first = assignments.get(lane)?.firstOffset ?? null
      if (first !== null && BigInt(offset) >= first) offsets.set(lane, String(BigInt(offset) + 1n))
    },
    stop: (): void => clearInterval(committing),
  }
}
