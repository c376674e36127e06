import type { Logger } from 'pino'
import type { ExactStreamAppend } from '../append-connection.ts'
import { type EncodedStreamAppend, exactRevision } from '../encoded-append.ts'
import { RevisionConflict } from '../port.ts'
import {
  asWritten,
  type ExactAppend,
  findWrittenAppend,
  type WrittenStreamAppend,
} from './append-at-revision.ts'
import type { EventReads } from './event-reads.ts'
import type { Locks } from './locks.ts'

export type JointDeps = {
  readonly reads: EventReads
  readonly append: ExactAppend
  readonly locks: Locks
  readonly log: Logger
}

const PAGE = 500

/**
 * Appends to several streams as one unit. The write to the first stream decides whether the events
 * of all streams are written. The metadata of this write contains the events for the other streams,
 * so any process can finish the append. Before this first write, a wrong revision of any stream
 * rejects the append. After this write, the events for the other streams are always written, unless
 * a stream that had to be new (`mustBeNew`) is not.
 */
export async function appendTogether(
  given: readonly EncodedStreamAppend[],
  deadline: number,
  joint: JointDeps,
): Promise<WrittenStreamAppend[]> {
  const names = given.map(({ stream }) => stream)
  return await joint.locks.together(names, deadline - performance.now(), async () => {
    const current = await Promise.all(names.map((name) => joint.reads.lastRevision(name)))
    const parts = given.map(({ stream, expected, events, mustBeNew }, index) => ({
      stream,
      events,
      mustBeNew,
      expected: exactRevision(expected) ?? current[index] ?? -1,
    }))
    const wrong = parts.findIndex(({ expected }, index) => expected !== current[index])
    const [first, ...others] = parts.filter(({ events }) => events.length > 0)
    if (first === undefined) return []
    const repeated = wrong < 0 ? null : await findWrittenAppend(first, joint.reads)
    if (repeated !== null) return withChecked(parts, await finish(repeated, deadline, joint))
    if (wrong >= 0) throw conflictOf(given[wrong], current[wrong])
    const decision = await joint.append(first, deadline, others)
    if (!decision.isWritten) {
      throw conflictOf(given[parts.indexOf(first)], decision.currentRevision)
    }
    const written = [decision, ...(await appendOthers(others, deadline, joint))]
    return withChecked(parts, written)
  })
}

/** Adds results for the streams without events, for which the append only required a revision. */
function withChecked(
  parts: readonly ExactStreamAppend[],
  written: readonly WrittenStreamAppend[],
): WrittenStreamAppend[] {
  const rest = [...written]
  return parts.flatMap(({ expected, events }) => {
    const checked = { isWritten: true, revision: expected, positions: [], found: null } as const
    return events.length === 0 ? [checked] : rest.splice(0, 1)
  })
}

function conflictOf(part: EncodedStreamAppend | undefined, currentRevision = -1): RevisionConflict {
  return new RevisionConflict(part?.stream ?? '', part?.expected ?? 'any', currentRevision)
}

export async function finish(
  decision: WrittenStreamAppend,
  deadline: number,
  joint: JointDeps,
): Promise<WrittenStreamAppend[]> {
  const others = decision.found?.at(-1)?.others ?? []
  return [decision, ...(await appendOthers(others, deadline, joint))]
}

async function appendOthers(
  parts: readonly ExactStreamAppend[],
  deadline: number,
  joint: JointDeps,
): Promise<WrittenStreamAppend[]> {
  const written: WrittenStreamAppend[] = []
  for (const part of parts) written.push(await ensureWritten(part, deadline, joint))
  return written
}

/**
 * Writes the events to their stream exactly once, even if the stream has got other events in the
 * meantime. After a conflict, searches the stream for these events. If they are missing, retries at
 * the end of the stream. Throws if the stream had to be new and is not.
 */
async function ensureWritten(
  part: ExactStreamAppend,
  deadline: number,
  joint: JointDeps,
): Promise<WrittenStreamAppend> {
  for (let expected = part.expected; ; ) {
    const result = await joint.append({ ...part, expected }, deadline)
    if (result.isWritten) return result
    const { written, last } = await searchFrom(part, joint.reads)
    if (written !== null) return written
    if (part.mustBeNew === true && part.expected < 0) {
      const { stream } = part
      joint.log.error(
        { alarm: 'joint-append-torn', stream },
        'a stream of a decided joint append is not new',
      )
      throw new Error(`stream ${stream} had to be new for a joint append that is already decided`)
    }
    expected = last
  }
}

async function searchFrom(
  { stream, expected, events }: ExactStreamAppend,
  reads: EventReads,
): Promise<{ written: WrittenStreamAppend | null; last: number }> {
  for (let last = expected; ; ) {
    const page = await reads.readStream(stream, last + 1, PAGE)
    const start = page.findIndex(({ recorded }) => recorded.id === events[0]?.id)
    if (start >= 0) {
      const stored = await reads.readStream(stream, last + 1 + start, events.length)
      return { written: asWritten(stored, events), last }
    }
    last = page.at(-1)?.recorded.revision ?? last
    if (page.length < PAGE) return { written: null, last }
  }
}
